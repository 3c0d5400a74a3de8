"""What the tasks of a synchronous job tell each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.factory.context import last
from tfdist.transport import spans_tasks, sum_replicas


class Tasks:
    """The tasks whose replicas train in step under a strategy; one where it spans no more."""

    def __init__(self, strategy: tf.distribute.Strategy) -> None:
        self._strategy = strategy
        self._alone = not spans_tasks(strategy)

    def gather(self, numbers: Sequence[int]) -> np.ndarray:
        """Return what each task says, a row for each; all say equally many numbers, at once."""
        if self._alone:
            return np.array([numbers], np.int64)
        together = tf.function(self._together, autograph=False)
        return together(tf.constant(numbers, tf.int64)).numpy()

    def any(self, mine: bool) -> bool:
        """Return whether it is so on any task."""
        return bool(self.gather([int(mine)]).any())

    def unlike_first(self, numbers: Sequence[int]) -> dict[str, int]:
        """Return the tasks that do not say what the first one says, and where they first differ."""
        first, *others = self.gather(numbers)
        return {
            self._name(rank): int(np.argmax(each != first))
            for rank, each in enumerate(others, 1)
            if (each != first).any()
        }

    def _together(self, mine: tf.Tensor) -> tf.Tensor:
        here = len(self._strategy.extended.worker_devices)
        tasks = self._strategy.num_replicas_in_sync // here

        def replica(mine: tf.Tensor) -> tf.Tensor:
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            said = tf.cast(number % here == 0, mine.dtype)
            return tf.one_hot(number // here, tasks, said, dtype=mine.dtype)[:, None] * mine[None]

        return sum_replicas(self._strategy, [self._strategy.run(replica, (mine,))])[0]

    def _name(self, rank: int) -> str:
        context: Any = last()
        if context is not None and context.strategy is self._strategy:
            return str(context.cluster.workers[rank])
        return f"task {rank}"
