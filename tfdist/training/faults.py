"""Which replicas' loss or gradient was first not a number, and in which step?

Each replica says in every step whether its own are finite, and the one sum over the replicas
carries it: nothing is fetched before somebody asks.
"""

from typing import Any

import tensorflow as tf

from tfdist.training import internals
from tfdist.training.share import Share

_NONE = -1


class Faults:
    """Notes, for each replica of a step, the first step whose numbers were not finite.

    Args:
        replicas: Of one step.
    """

    def __init__(self, replicas: int) -> None:
        self._replicas = replicas
        with tf.init_scope(), internals.outside_strategy():
            self._steps = tf.Variable(0, dtype=tf.int64, trainable=False)
            self._first = tf.Variable([_NONE] * replicas, dtype=tf.int64, trainable=False)

    def begin(self, step: int) -> None:
        """Forget what was found; the next step has this number."""
        self._steps.assign(step)
        self._first.assign([_NONE] * self._replicas)

    def flags(self, loss: Any, gradients: list, share: Share) -> tf.Tensor:
        """Return a replica's addend: 1 at its own place when loss or gradient are not finite."""
        parts = [g.values if isinstance(g, tf.IndexedSlices) else g for g in gradients]
        # A sum is finite when all its addends are: one look at each number.
        sums = [tf.cast(tf.reduce_sum(each), tf.float64) for each in [loss, *parts]]
        bad = tf.logical_not(tf.math.is_finite(tf.add_n(sums)))
        own = tf.one_hot(share.replica, self._replicas, dtype=tf.float32)
        return own * tf.cast(bad, tf.float32) * share.present

    def note(self, flags: tf.Tensor) -> None:
        """Count a step, of which the replicas said this."""
        new = tf.logical_and(flags > 0, self._first == _NONE)
        self._first.assign(tf.where(new, self._steps, self._first))
        self._steps.assign_add(1)

    def found(self) -> tuple[int, list[int]] | None:
        """Return the first such step and the replicas that had it, None when there is none."""
        first = self._first.numpy().tolist()
        step = min((each for each in first if each != _NONE), default=None)
        if step is None:
            return None
        return step, [replica for replica, each in enumerate(first) if each == step]
