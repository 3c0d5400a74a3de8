"""What `fit` was given, as global batches: one dataset for every form of data Keras takes."""

import warnings
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from tfdist.training import internals


class Feed:
    """The global batches of one call to fit, evaluate or predict.

    Args: as in Keras. Every task of a job makes the same batches; each replica takes its rows.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: bool = False,
        class_weight: dict | None = None,
    ) -> None:
        self._adapter = internals.get_data_adapter(
            x=x,
            y=y,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps_per_epoch=steps,
            shuffle=shuffle if not isinstance(x, tf.data.Dataset) else False,
            class_weight=class_weight,
        )
        self._given_steps = steps
        self._dataset = self._adapter.get_tf_dataset()
        self._iterator: Iterator | None = None
        self._known = self._adapter.num_batches
        self._seen = 0
        self._skip = 0

    @property
    def element_spec(self) -> Any:
        """The structure of a global batch."""
        return self._dataset.element_spec

    @property
    def steps(self) -> int | None:
        """Steps of an epoch, None until an epoch of unknown length has ended."""
        return self._given_steps or self._known

    def epoch(self) -> Iterator:
        """Return the iterator of an epoch: a new one, or with given steps the one that goes on."""
        self._adapter.on_epoch_begin()
        if self._iterator is None or self._given_steps is None:
            self.rewind()
            self._iterator = iter(self._dataset)
            self._seen = 0
        self._skip, skip = 0, self._skip
        for _ in range(skip):
            next(self._iterator, None)
        return self._iterator

    def pass_over(self) -> None:
        """Go through an epoch that was read in a run before this one."""
        iterator, read = self.epoch(), 0
        if self._given_steps is None:
            self._adapter.on_epoch_end()  # an iterator that nobody reads costs nothing
            return
        read = sum(next(iterator, None) is not None for _ in range(self._given_steps))
        self.end(read, read < self._given_steps)

    def skip(self, steps: int) -> None:
        """Leave out steps at the beginning of the next epoch."""
        self._skip = steps

    def rewind(self) -> None:
        """Let the next epoch begin at the beginning, as every evaluation does."""
        if self._iterator is not None:
            internals.let_go(self._dataset, self._iterator)
        self._iterator = None

    def end(self, steps: int, whole: bool = True) -> None:
        """Say how many steps the epoch had, and whether it was gone through to its end."""
        self._adapter.on_epoch_end()
        self._seen += steps
        if self._given_steps is None:
            self._known = steps if whole else self._known
            return
        short = whole and steps < self._given_steps
        if short:
            warnings.warn(
                f"The data ended after {steps} of {self._given_steps} steps of this epoch: give "
                "fewer steps_per_epoch, or repeat() the dataset.",
                stacklevel=4,
            )
        if short or (self._known is not None and self._seen >= self._known):
            self.rewind()
