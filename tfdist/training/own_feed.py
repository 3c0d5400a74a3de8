"""The batches of a job in which each worker has data of its own, as `per_worker` declares it."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.data.per_worker import PerWorker
from tfdist.errors import UsageError
from tfdist.factory.context import last
from tfdist.training import internals
from tfdist.training.declared import endless
from tfdist.transport import place, sum_once


class OwnFeed:
    """The parts of this task; used as `Feed` is.

    The tasks agree at the beginning of each epoch on its steps, the most that one of them has.
    Where a task does not know its own, they find out as they go. One whose data has ended takes
    part with rows that count 0.

    Args:
        x: What makes the data of a task and an epoch.
        strategy: The strategy whose tasks share the data.
        steps: The most steps of an epoch, None for all.
        epoch: Number of the first epoch.
        class_weight: As in Keras.

    Raises:
        UsageError: the parts of a task have no end, and no steps are given.
    """

    def __init__(
        self,
        x: PerWorker,
        strategy: tf.distribute.Strategy,
        *,
        steps: int | None = None,
        epoch: int = 0,
        class_weight: dict | None = None,
    ) -> None:
        self._x = x
        self._strategy = strategy
        self._rank, self._tasks = place(strategy)
        self._sum = tf.function(lambda value: sum_once(strategy, value), autograph=False)
        context = last()
        mine = context is not None and context.strategy is strategy
        self._seed = (context.seed or 0) if mine and context is not None else 0
        self._given_steps = steps
        self._class_weight = class_weight
        self._number = epoch
        self._skip = 0
        self._made: tuple[int, tf.data.Dataset, int | None] | None = None
        self._make()

    @property
    def element_spec(self) -> Any:
        """The structure of a part."""
        return self._make()[0].element_spec

    @property
    def steps(self) -> int | None:
        """Steps of the epoch, None when a task does not know how many it has."""
        return self._make()[1]

    def epoch(self) -> Iterator:
        """Return the iterator of an epoch."""
        dataset, _ = self._make()
        if self._tasks > 1:
            dataset = endless(dataset)
        self._skip, skip = 0, self._skip
        return iter(dataset.skip(skip).prefetch(tf.data.AUTOTUNE))

    def at(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self._number = epoch

    def pass_over(self) -> None:
        """Leave out an epoch: its data is not asked for."""
        self._number += 1

    def skip(self, steps: int) -> None:
        """Leave out steps at the beginning of the next epoch."""
        self._skip = steps

    def rewind(self) -> None:
        """Let epoch 0 come next, as every evaluation does."""
        self._number = 0

    def end(self, steps: int, whole: bool = True) -> None:
        """Say how many steps the epoch had, and whether it was gone through to its end."""
        if whole and self._given_steps and steps < self._given_steps:
            warnings.warn(
                f"The data of all workers ended after {steps} of {self._given_steps} steps of this "
                "epoch: give fewer steps_per_epoch, or more data.",
                stacklevel=4,
            )
        self._number += 1

    def _make(self) -> tuple[tf.data.Dataset, int | None]:
        """Return the data of this task in this epoch, and the steps agreed on; once an epoch."""
        if self._made is None or self._made[0] != self._number:
            dataset = self._x.dataset(self._rank, self._tasks, self._number, self._seed)
            adapter = internals.get_data_adapter(x=dataset, class_weight=self._class_weight)
            dataset = adapter.get_tf_dataset()
            self._made = (self._number, dataset, self._agree(dataset))
        return self._made[1:]

    def _agree(self, dataset: tf.data.Dataset) -> int | None:
        """Return the most steps that a task has in this epoch, None when one does not know."""
        facts = np.zeros(self._tasks)
        facts[self._rank] = int(dataset.cardinality())
        if self._tasks > 1:
            facts = self._sum(tf.constant(facts)).numpy().round()
        lengths = [int(length) for length in facts]
        endless_one = tf.data.INFINITE_CARDINALITY
        if endless_one in lengths and self._given_steps is None:
            raise UsageError(
                f"{self._x.name} gives worker {lengths.index(endless_one)} batches without end: "
                "give steps_per_epoch, or let it end"
            )
        if endless_one in lengths:
            return self._given_steps
        if min(lengths) < 0:
            return None
        return min(max(lengths), self._given_steps or max(lengths))
