"""The sum over replicas, by the road that the strategy was given."""

from typing import Any

import tensorflow as tf

from tfdist.factory.mpi import world_of
from tfdist.transport import collective
from tfdist.transport.mpi import exchange
from tfdist.transport.replicas import add, join, spans_tasks


def sum_replicas(strategy: tf.distribute.Strategy, values: list) -> list:
    """Return the sum over all replicas of each value that `strategy.run` returned.

    Values are tensors or IndexedSlices; the results are on this task, the same bits on every task.
    """
    if not spans_tasks(strategy):
        return [add(strategy, v) for v in values]
    if not values:
        return []
    world = world_of(strategy)
    if world is None:
        return collective.sum_tasks(strategy, values)
    return exchange.sum_tasks(world, [add(strategy, v) for v in values])


def join_replicas(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the rows of all replicas, in the order of the replicas, on this task."""
    if not spans_tasks(strategy):
        return join(strategy, value)
    world = world_of(strategy)
    if world is None:
        return collective.join_tasks(strategy, value)[0]
    return exchange.join_tasks(world, join(strategy, value))


@tf.custom_gradient
def sum_in_replica(value: tf.Tensor) -> Any:
    """Return the sum of a value over all replicas, from inside a replica; differentiable."""

    def together(addend: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        return context.merge_call(lambda strategy, v: sum_replicas(strategy, [v])[0], (addend,))

    return together(value), together
