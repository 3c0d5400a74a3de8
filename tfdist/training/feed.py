"""What `fit` was given, as global batches: one dataset for every form of data Keras takes."""

import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from tfdist.data.dealt import batch_of
from tfdist.data.divided import Divided
from tfdist.data.per_worker import PerWorker
from tfdist.errors import UsageError
from tfdist.training import internals
from tfdist.training.own_feed import OwnFeed
from tfdist.transport import place


def feed(
    strategy: tf.distribute.Strategy,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    epoch: int = 0,
    steps: int | None = None,
    class_weight: dict | None = None,
    **others: Any,
) -> Any:
    """Return the batches of one call to fit, evaluate or predict, whoever has them.

    Args: as in `Feed`, but x may be data that each worker of the strategy has of its own, or whose
        rows are dealt out to the workers; `epoch` is the number of the first one.

    Raises:
        UsageError: the strategy has no workers that could have data of their own.
    """
    if not isinstance(x, PerWorker):
        x = x.dataset(*place(strategy)) if isinstance(x, Divided) else x
        _tell_of_whole_batches(x, *place(strategy))
        return Feed(x, y, sample_weight, steps=steps, class_weight=class_weight, **others)
    if y is not None or sample_weight is not None:
        raise UsageError(
            "y or sample_weight was given beside tfdist.per_worker(...), whose function returns a "
            "dataset of (x, y) or (x, y, sample_weight): return them there"
        )
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        raise UsageError(
            f"{x.name} was given under parameter_server, where the chief deals out whole batches "
            "and no worker has data of its own: use multi_worker, or give a tf.data.Dataset"
        )
    return OwnFeed(x, strategy, steps=steps, epoch=epoch, class_weight=class_weight)


def _tell_of_whole_batches(x: Any, task: int, tasks: int) -> None:
    """Say, once, where more workers do not make batches faster, and what does."""
    made_by_python = isinstance(x, keras.utils.PyDataset) or inspect.isgenerator(x)
    if made_by_python and tasks > 1 and task == 0:
        kind = type(x).__name__
        logging.log_first_n(
            logging.WARNING,
            "each of %d workers makes all batches of this %s, and trains on its rows of them: "
            "where making them takes longer than the steps, give tfdist.per_worker(...)",
            1,
            tasks,
            kind,
        )


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
        return batch_of(self._dataset.element_spec)

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

    def at(self, epoch: int) -> None:
        """Say which epoch comes next: the data goes on in any case."""

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
