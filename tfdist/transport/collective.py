"""The sum over replicas by TensorFlow's own means: additions here, RING or NCCL between."""

from typing import Any

import tensorflow as tf


def sum_replicas(strategy: tf.distribute.Strategy, values: list) -> list:
    """Return the sum over all replicas of each value that `strategy.run` returned.

    One collective carries all values of a type. Values are tensors or IndexedSlices; the result is
    a tensor on this task, the same bits on every task.
    """
    if strategy.num_replicas_in_sync == 1:
        return [first(strategy, v) for v in values]
    if not spans_tasks(strategy):
        return [_add(strategy.experimental_local_results(v)) for v in values]
    if not values:
        return []
    with tf.device(strategy.extended.worker_devices[0]):
        # TensorFlow packs values into one collective only when each says where it is.
        placed = [v if isinstance(v, tf.distribute.DistributedValues) else _here(v) for v in values]
    pairs = [(v, v) for v in placed]
    reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)
    return [first(strategy, v) for v in reduced]


@tf.custom_gradient
def sum_in_replica(value: tf.Tensor) -> Any:
    """Return the sum of a value over all replicas, from inside a replica; differentiable."""

    def together(addend: tf.Tensor) -> tf.Tensor:
        context = tf.distribute.get_replica_context()
        return context.merge_call(lambda strategy, v: sum_replicas(strategy, [v])[0], (addend,))

    return together(value), together


def spans_tasks(strategy: tf.distribute.Strategy) -> bool:
    """Return whether the replicas of a strategy are spread over several tasks."""
    replicas = strategy.num_replicas_in_sync
    return replicas > 1 and len(strategy.extended.worker_devices) < replicas


def first(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the value of the first replica of this task."""
    return strategy.experimental_local_results(value)[0]


def join(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the rows of all replicas, in the order of the replicas, on this task."""
    if spans_tasks(strategy):
        return strategy.gather(value, axis=0)
    parts = strategy.experimental_local_results(value)
    return parts[0] if len(parts) == 1 else tf.concat(parts, 0)


def _here(value: Any) -> Any:
    return tf.nest.map_structure(tf.identity, value, expand_composites=True)


def _add(parts: tuple) -> Any:
    if isinstance(parts[0], tf.IndexedSlices):
        values = tf.concat([p.values for p in parts], 0)
        indices = tf.concat([p.indices for p in parts], 0)
        return tf.IndexedSlices(values, indices, parts[0].dense_shape)
    return tf.add_n(parts)
