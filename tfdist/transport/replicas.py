"""The replicas of a strategy: which are here, and what do they hold?"""

from typing import Any

import tensorflow as tf


def spans_tasks(strategy: tf.distribute.Strategy) -> bool:
    """Return whether the replicas of a strategy are spread over several tasks."""
    replicas = strategy.num_replicas_in_sync
    return replicas > 1 and len(strategy.extended.worker_devices) < replicas


def here(strategy: tf.distribute.Strategy) -> int:
    """Return the number of replicas in this task."""
    if strategy.num_replicas_in_sync == 1:  # TensorFlow's own default knows no devices
        return 1
    return len(strategy.extended.worker_devices)


def place(strategy: tf.distribute.Strategy) -> tuple[int, int]:
    """Return the number of this task among those that share the replicas, and how many they are."""
    if not spans_tasks(strategy):
        return 0, 1
    tasks = strategy.num_replicas_in_sync // len(strategy.extended.worker_devices)
    return strategy.extended._id_in_cluster, tasks


def first(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the value of the first replica of this task."""
    return strategy.experimental_local_results(value)[0]


def join(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the rows of the replicas of this task, in their order."""
    parts = strategy.experimental_local_results(value)
    return parts[0] if len(parts) == 1 else tf.concat(parts, 0)


def add(strategy: tf.distribute.Strategy, value: Any) -> Any:
    """Return the sum over the replicas of this task."""
    parts = strategy.experimental_local_results(value)
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], tf.IndexedSlices):
        values = tf.concat([p.values for p in parts], 0)
        indices = tf.concat([p.indices for p in parts], 0)
        return tf.IndexedSlices(values, indices, parts[0].dense_shape)
    return tf.add_n(parts)
