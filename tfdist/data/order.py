"""In which order, and in which global batches, are the examples of a run read?

The same in every task, whatever their number, and in every run with the same seed. Examples that
can be read by their numbers are shuffled as a whole, by shuffling the numbers, and any batch can be
read without those before it. Others come as a stream, and are shuffled through a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.divided import Divided
from tfdist.data.numbered import numbered
from tfdist.data.source import Source, described
from tfdist.data.streamed import streamed
from tfdist.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Order:
    """How the examples of a training run are put in order.

    Attributes:
        global_batch_size: examples in a batch; the last one of a pass has what is left.
        seed: the order of each pass follows from it and from the number of the pass.
        shuffle: False reads the examples in their own order in each pass.
        drop_remainder: leave out the last batch of a pass when it is not full.
        goes_on: go on with the next pass without end, for epochs of a given number of steps;
            without it, each iteration over the dataset is the next pass.
        start_epoch: the pass that comes first.
        start_step: the batch of that pass that comes first, for a run that is resumed.

    Raises:
        UsageError: a number is out of range.
    """

    global_batch_size: int
    seed: int = 0
    shuffle: bool = True
    drop_remainder: bool = False
    goes_on: bool = False
    start_epoch: int = 0
    start_step: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("global_batch_size", 1),
            ("seed", 0),
            ("start_epoch", 0),
            ("start_step", 0),
        ):
            if getattr(self, name) < least:
                raise UsageError(
                    f"{name} is {getattr(self, name)}, but must be {least} or more: give a larger "
                    "number"
                )

    def steps(self, examples: int) -> int:
        """Return the number of batches in one pass."""
        whole, rest = divmod(examples, self.global_batch_size)
        return whole + (rest > 0 and not self.drop_remainder)

    def normal(self, examples: int | None) -> Order:
        """Return the same order with a `start_step` within its pass, where that can be known."""
        steps = self.steps(examples or 0)
        if steps == 0:
            return self
        skipped, step = divmod(self.start_step, steps)
        return replace(self, start_epoch=self.start_epoch + skipped, start_step=step)


def batches(source: Source, order: Order, augment: Augment | None = None) -> Any:
    """Return the tf.data dataset of the global batches for training.

    Args:
        source: the examples.
        order: their order.
        augment: how the images are changed.

    Raises:
        UsageError: the examples are no images that can be changed so.
    """
    if augment is not None:
        augment.input_shape(described(source).input_shape)
    order = order.normal(source.train_examples)
    if source.train_reader is not None:
        return numbered(source.train_reader, order, augment)
    return streamed(source.train, source.train_examples, order, augment)


def divided(source: Source, order: Order, augment: Augment | None = None) -> Any:
    """Return the same global batches, of which each task of a job reads its own rows only.

    Where examples have no numbers, or some of them may be left out, every task reads all of them.
    """
    reader = source.train_reader
    whole = batches(source, order, augment)
    if reader is None or reader.may_lose:
        return whole
    order = order.normal(source.train_examples)

    def make(task: int, tasks: int) -> Any:
        return whole if tasks == 1 else numbered(reader, order, augment, task, tasks)

    return Divided(make)


def validation_batches(
    source: Source,
    global_batch_size: int,
    augment: Augment | None = None,
    make: Callable[..., Any] = batches,
) -> Any | None:
    """Return the global batches for validation, in the order of the source.

    None when there is no validation part; of `augment`, only what is not random is done. `make` is
    `batches` or `divided`.
    """
    if source.validation is None:
        return None
    part = replace(
        source,
        train=source.validation,
        train_examples=source.validation_examples,
        train_reader=source.validation_reader,
    )
    order = Order(global_batch_size=global_batch_size, shuffle=False)
    return make(part, order, augment.for_validation() if augment else None)
