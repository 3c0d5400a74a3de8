"""In which order, and in which global batches, are the examples of a run read?

The same in every task, whatever their number, and in every run with the same seed. Examples that
can be read by their numbers are shuffled as a whole, by shuffling the numbers, and any batch can be
read without those before it. Others come as a stream, and are shuffled through a buffer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tfdist.data.permutation import permutation
from tfdist.data.reader import Reader
from tfdist.data.source import Source
from tfdist.errors import UsageError

_BUFFER_EXAMPLES = 10_000
_BUFFER_BYTES = 2**28
_UNKNOWN_BYTES = 2**18  # Of an example whose size is not known.

Augment = Callable[[Any, Any], Any]  # From a batch and its place, (pass, step), to a batch.


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


def batches(source: Source, order: Order, augment: Augment | None = None) -> Any:
    """Return the tf.data dataset of the global batches for training.

    Args:
        source: the examples.
        order: their order.
        augment: changes a batch, in a graph; random choices follow from its pass and its step.
    """
    if source.train_reader is not None:
        return _numbered(source.train_reader, order, augment)
    return _streamed(source.train, source.train_examples, order, augment)


def validation_batches(
    source: Source, global_batch_size: int, augment: Augment | None = None
) -> Any | None:
    """Return the dataset of the global batches for validation, in the order of the source."""
    if source.validation is None:
        return None
    part = replace(
        source,
        train=source.validation,
        train_examples=source.validation_examples,
        train_reader=source.validation_reader,
    )
    return batches(part, Order(global_batch_size=global_batch_size, shuffle=False), augment)


def _numbered(reader: Reader, order: Order, augment: Augment | None) -> Any:
    import tensorflow as tf

    def read(place: Any, numbers: Any) -> Any:
        batch = reader.batch(numbers)
        return augment(batch, place) if augment else batch

    dataset = _numbers(reader.examples, reader.may_lose == 0, order).map(
        read, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    if reader.may_lose:
        dataset = dataset.filter(_is_not_empty)
    else:
        dataset = _with_length(dataset, reader.examples, order)
    return dataset.prefetch(tf.data.AUTOTUNE)


def _numbers(examples: int, all_there: bool, order: Order) -> Any:
    """The dataset of the batches to read: their pass and step, and the numbers of their examples."""
    import tensorflow as tf

    size, steps = order.global_batch_size, order.steps(examples)
    skipped, first_step = divmod(order.start_step, max(steps, 1))
    first_epoch = order.start_epoch + skipped
    all_full = all_there and (order.drop_remainder or examples % size == 0)

    def of_pass(epoch: Any) -> Any:
        numbers = _in_order(examples, order, epoch)
        start = tf.where(epoch == first_epoch, tf.constant(first_step, tf.int64), 0)

        def of_step(step: Any) -> Any:
            part = numbers[step * size : (step + 1) * size]
            return (epoch, step), tf.ensure_shape(part, [size if all_full else None])

        return tf.data.Dataset.range(start, steps).map(of_step)

    return _passes(first_epoch, order.goes_on and steps > 0).flat_map(of_pass)


def _in_order(examples: int, order: Order, epoch: Any) -> Any:
    """The numbers of all examples, in the order of a pass."""
    import tensorflow as tf

    if not order.shuffle:
        return tf.range(examples, dtype=tf.int64)
    numbers = tf.numpy_function(
        lambda number: permutation(examples, order.seed, int(number)),
        [epoch],
        tf.int64,
        stateful=False,
    )
    return tf.ensure_shape(numbers, [examples])


def _passes(first: int, goes_on: bool) -> Any:
    """The dataset of the passes in one iteration: the next one, or all from the first one."""
    import tensorflow as tf

    if goes_on:
        return tf.data.Dataset.range(first, tf.int64.max)
    counter = itertools.count(first)
    spec = tf.TensorSpec([], tf.int64)
    return tf.data.Dataset.from_generator(lambda: iter([next(counter)]), output_signature=spec)


def _with_length(dataset: Any, examples: int | None, order: Order) -> Any:
    import tensorflow as tf

    if examples is None or order.goes_on or order.start_step:
        return dataset
    return dataset.apply(tf.data.experimental.assert_cardinality(order.steps(examples)))


def _streamed(dataset: Any, examples: int | None, order: Order, augment: Augment | None) -> Any:
    import tensorflow as tf

    size, start = order.global_batch_size, tf.constant(order.start_step, tf.int64)

    def of_pass(epoch: Any) -> Any:
        all_batches = _shuffled(dataset, examples, order, epoch).batch(size, order.drop_remainder)
        numbered = all_batches.enumerate().skip(tf.where(epoch == order.start_epoch, start, 0))
        return numbered.map(lambda step, batch: ((epoch, step), batch))

    placed = _passes(order.start_epoch, order.goes_on and examples != 0).flat_map(of_pass)
    result = placed.map(
        lambda place, batch: augment(batch, place) if augment else batch,
        num_parallel_calls=tf.data.AUTOTUNE if augment else None,
        deterministic=True if augment else None,
    )
    return _with_length(result, examples, order).prefetch(tf.data.AUTOTUNE)


def _shuffled(dataset: Any, examples: int | None, order: Order, epoch: Any) -> Any:
    import tensorflow as tf

    if not order.shuffle:
        return dataset
    seed = tf.random.experimental.stateless_fold_in(
        tf.constant([order.seed, 0], tf.int64), epoch
    )
    buffer = min(_BUFFER_EXAMPLES, max(1, _BUFFER_BYTES // _bytes(dataset)))
    buffer = max(1, min(buffer, examples if examples is not None else buffer))
    return dataset.shuffle(buffer, seed[0], reshuffle_each_iteration=False)


def _bytes(dataset: Any) -> int:
    import tensorflow as tf

    return sum(
        spec.shape.num_elements() * spec.dtype.size
        if isinstance(spec, tf.TensorSpec) and spec.shape.is_fully_defined()
        else _UNKNOWN_BYTES
        for spec in tf.nest.flatten(dataset.element_spec)
    )


def _is_not_empty(*batch: Any) -> Any:
    import tensorflow as tf

    return tf.shape(tf.nest.flatten(batch)[0])[0] > 0
