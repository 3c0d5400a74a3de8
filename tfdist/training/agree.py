"""One decision for all tasks: whether to stop, and with which learning rate to go on."""

from typing import Any

import keras
import tensorflow as tf

from tfdist.transport import spans_tasks, sum_replicas


class Agreement:
    """Lets the tasks of a synchronous job agree between steps.

    Args:
        strategy: The strategy of the job; the learning rate of its first replica is the one.
    """

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self._strategy = strategy
        self._alone = not spans_tasks(strategy)
        self._sum = tf.function(self._summed, autograph=False)

    def __call__(self, stop: bool, optimizer: Any) -> bool:
        """Return whether any task asked to stop; all get the first's learning rate."""
        if self._alone:
            return stop
        inner = getattr(optimizer, "inner_optimizer", optimizer)
        rate: Any = getattr(inner, "_learning_rate", None)
        settable = isinstance(rate, keras.Variable)
        mine = float(rate.numpy()) if settable else 0.0
        asked, agreed = self._sum(tf.constant([float(stop), mine])).numpy()
        if settable:
            rate.assign(agreed)
        return bool(asked > 0)

    def seconds(self, mine: float) -> float:
        """Return the mean over all tasks of a time."""
        return mine if self._alone else float(self._sum(tf.constant([mine, 0.0])).numpy()[0])

    def _summed(self, value: tf.Tensor) -> tf.Tensor:
        """Return the mean over replicas of the first number, and replica 0's second."""

        def replica(mine: tf.Tensor) -> tf.Tensor:
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            replicas = self._strategy.num_replicas_in_sync
            return mine * tf.stack([1 / replicas, tf.cast(number == 0, tf.float32)])

        return sum_replicas(self._strategy, [self._strategy.run(replica, (value,))])[0]
