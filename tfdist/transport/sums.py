"""The sum over replicas, by the road that the strategy was given."""

from collections.abc import Collection
from typing import Any

import tensorflow as tf

from tfdist.factory.mpi import world_of
from tfdist.factory.wire import Wire, wire_of
from tfdist.transport import collective, narrow
from tfdist.transport.mpi import exchange
from tfdist.transport.replicas import add, first, join, spans_tasks


def sum_replicas(
    strategy: tf.distribute.Strategy, values: list, gradients: Collection[int] = ()
) -> list:
    """Return the sum over all replicas of each value that `strategy.run` returned.

    The results are on this task, the same bits on every task.

    Args:
        strategy: Whose replicas they come from.
        values: Tensors or IndexedSlices.
        gradients: The places of values that may travel in fewer bits, where that was asked for.
    """
    if not spans_tasks(strategy):
        return [add(strategy, v) for v in values]
    if not values:
        return []
    wire = wire_of(strategy)
    if wire is None or not wire.bits:
        return _sum_whole(strategy, values)
    thin = [i for i in gradients if _is_float32(first(strategy, values[i]))]
    rest = [i for i in range(len(values)) if i not in thin]
    sums = dict(zip(thin, _sum_narrow(strategy, [values[i] for i in thin], wire), strict=True))
    sums |= zip(rest, _sum_whole(strategy, [values[i] for i in rest]), strict=True)
    return [sums[i] for i in range(len(values))]


def _sum_whole(strategy: tf.distribute.Strategy, values: list) -> list:
    world = world_of(strategy)
    if world is None:
        return collective.sum_tasks(strategy, values)
    return exchange.sum_tasks(world, [add(strategy, v) for v in values])


def _sum_narrow(strategy: tf.distribute.Strategy, values: list, wire: Wire) -> list:
    if not values:
        return []
    world = world_of(strategy)
    tasks = strategy.num_replicas_in_sync // len(strategy.extended.worker_devices)
    send, spread = collective.rows(tasks) if world is None else exchange.rows(world)
    with tf.device(strategy.extended.worker_devices[0]):
        mine = [tf.identity(add(strategy, v)) for v in values]
        return narrow.sum_tasks(mine, wire.bits, tasks, send, spread)


def _is_float32(value: Any) -> bool:
    return isinstance(value, tf.Tensor) and value.dtype == tf.float32


def join_replicas(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the rows of all replicas, in the order of the replicas, on this task."""
    if not spans_tasks(strategy):
        return join(strategy, value)
    world = world_of(strategy)
    if world is None:
        return collective.join_tasks(strategy, value)[0]
    return exchange.join_tasks(world, join(strategy, value))


def sum_once(strategy: tf.distribute.Strategy, value: tf.Tensor) -> tf.Tensor:
    """Return the sum over the tasks of a small value of floats that each task holds once."""
    share = value / len(strategy.extended.worker_devices)
    return sum_replicas(strategy, [strategy.run(lambda: tf.identity(share))])[0]


@tf.custom_gradient
def sum_in_replica(value: tf.Tensor) -> Any:
    """Return the sum of a value over all replicas, from inside a replica; differentiable."""

    def together(addend: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        return context.merge_call(lambda strategy, v: sum_replicas(strategy, [v])[0], (addend,))

    return together(value), together
