"""In which global batches are the examples of a run read?

The same in every task, whatever their number, and in every run with the same seed. Examples that
can be read by their numbers are shuffled as a whole, by shuffling the numbers, and any batch can be
read without those before it. Others come as a stream, and are shuffled through a buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.divided import Divided
from tfdist.data.numbered import numbered
from tfdist.data.order import Order
from tfdist.data.per_worker import PerWorker
from tfdist.data.source import Source, described, refuse_declared
from tfdist.data.streamed import streamed


def batches(source: Source, order: Order, augment: Augment | None = None) -> Any:
    """Return the tf.data dataset of the global batches for training.

    Args:
        source: the examples.
        order: their order.
        augment: how the images are changed.

    Raises:
        UsageError: the examples are no images that can be changed so, or each worker has its own.
    """
    refuse_declared(
        source, "cannot be read here as one dataset: give a function that returns tf.data datasets"
    )
    if augment is not None:
        augment.input_shape(described(source).input_shape)
    order = order.normal(source.train_examples)
    if source.train_reader is not None:
        return numbered(source.train_reader, order, augment)
    return streamed(source.train, source.train_examples, order, augment)


def divided(source: Source, order: Order, augment: Augment | None = None) -> Any:
    """Return the same global batches, of which each task of a job reads its own rows only.

    Where examples have no numbers, or some of them may be left out, every task reads all of them.
    Data of each worker's own stays as it is.
    """
    if isinstance(source.train, PerWorker):
        if augment is not None or order.drop_remainder:
            refuse_declared(
                source,
                "are trained on as they are: leave out --flip, --crop, --resize and "
                "--drop_remainder, and do this in the function",
            )
        return source.train
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
