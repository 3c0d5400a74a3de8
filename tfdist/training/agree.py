"""One decision for all tasks: whether to stop, and with which learning rate to go on."""

from typing import Any

import keras
import tensorflow as tf

from tfdist.transport import spans_tasks, sum_replicas


class Agreement:
    """Lets the tasks of a synchronous job agree between steps.

    Args:
        strategy: The strategy of the job.
        is_chief: Whether this task's learning rate is the one.
    """

    def __init__(self, strategy: tf.distribute.Strategy, is_chief: bool) -> None:
        self._strategy = strategy
        self._is_chief = is_chief
        self._alone = not spans_tasks(strategy)
        self._replicas = 1 if self._alone else len(strategy.extended.worker_devices)
        self._sum = tf.function(self._summed)

    def __call__(self, stop: bool, optimizer: Any) -> bool:
        """Return whether any task asked to stop; every optimizer gets the chief's learning rate."""
        if self._alone:
            return stop
        rate = getattr(optimizer, "_learning_rate", None)
        if hasattr(optimizer, "inner_optimizer"):
            rate = optimizer.inner_optimizer._learning_rate
        settable = isinstance(rate, keras.Variable)
        mine = float(rate.numpy()) if settable and self._is_chief else 0.0
        asked, agreed = self._sum(tf.constant([float(stop), mine])).numpy()
        if settable:
            rate.assign(agreed)
        return bool(asked > 0)

    def seconds(self, mine: float) -> float:
        """Return the mean over all tasks of a time."""
        if self._alone:
            return mine
        tasks = self._strategy.num_replicas_in_sync / self._replicas
        return float(self._sum(tf.constant([mine])).numpy()[0]) / tasks

    def _summed(self, value: tf.Tensor) -> tf.Tensor:
        one = self._strategy.run(lambda v: v / self._replicas, (value,))
        return sum_replicas(self._strategy, [one])[0]
