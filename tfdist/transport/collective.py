"""The sum over tasks by TensorFlow's own means: RING or NCCL."""

from typing import Any

import tensorflow as tf

from tfdist.transport.replicas import first


def sum_tasks(strategy: tf.distribute.Strategy, values: list) -> list:
    """Return the sum over all replicas; one collective carries all values of a type."""
    with tf.device(strategy.extended.worker_devices[0]):
        # TensorFlow packs values into one collective only when each says where it is.
        placed = [v if isinstance(v, tf.distribute.DistributedValues) else _here(v) for v in values]
    pairs = [(v, v) for v in placed]
    reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)
    return [first(strategy, v) for v in reduced]


def _here(value: Any) -> Any:
    return tf.nest.map_structure(tf.identity, value, expand_composites=True)
