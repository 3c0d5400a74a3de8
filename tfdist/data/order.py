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

import numpy as np

from tfdist.data.augment import Augment
from tfdist.data.permutation import permutation
from tfdist.data.reader import Reader
from tfdist.data.source import Source, described
from tfdist.errors import UsageError

_BUFFER_EXAMPLES = 10_000
_BUFFER_BYTES = 2**28
_UNKNOWN_BYTES = 2**18  # Of an example whose size is not known.


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
        return _numbered(source.train_reader, order, augment)
    return _streamed(source.train, source.train_examples, order, augment)


def validation_batches(
    source: Source, global_batch_size: int, augment: Augment | None = None
) -> Any | None:
    """Return the dataset of the global batches for validation, in the order of the source.

    None when there is no validation part; of `augment`, only what is not random is done.
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
    return batches(part, order, augment.for_validation() if augment else None)


def _numbered(reader: Reader, order: Order, augment: Augment | None) -> Any:
    import tensorflow as tf

    def read(place: Any, numbers: Any) -> Any:
        batch = reader.batch(numbers)
        return augment(batch, place) if augment else batch

    dataset = _numbers(reader, order).map(
        read, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    if reader.may_lose:
        dataset = dataset.filter(_is_not_empty)
    else:
        dataset = _with_length(dataset, reader.examples, order)
    return dataset.prefetch(tf.data.AUTOTUNE)


def _numbers(reader: Reader, order: Order) -> Any:
    """The dataset of the batches to read: the place, and the numbers of the examples."""
    import tensorflow as tf

    examples, size = reader.examples, order.global_batch_size
    steps = order.steps(examples)
    all_full = not reader.may_lose and (order.drop_remainder or steps * size == examples)
    endless = order.goes_on and steps > 0
    first = order.start_epoch * steps + order.start_step
    next_pass = _counter(order.start_epoch)

    def take(state: tuple[Any, Any], count: Any) -> Any:
        # The numbers of a pass stay from step to step, so that Python is called once a pass.
        epoch, numbers = state
        now = count // steps if endless else tf.cond(epoch < 0, next_pass, lambda: epoch)
        numbers = tf.cond(now == epoch, lambda: numbers, lambda: _in_order(examples, order, now))
        step = count % steps
        part = numbers[step * size : (step + 1) * size]
        return (now, numbers), ((now, step), tf.ensure_shape(part, [size if all_full else None]))

    counts = tf.data.Dataset.range(first, tf.int64.max) if endless else tf.data.Dataset.range(steps)
    none = tf.constant(-1, tf.int64), tf.zeros([0], tf.int64)
    dataset = counts.scan(none, take)
    if order.start_step and not endless:
        return dataset.filter(lambda place, _: place[0] * steps + place[1] >= first)
    return dataset


def _in_order(examples: int, order: Order, epoch: Any) -> Any:
    """The numbers of all examples, in the order of a pass."""
    import tensorflow as tf

    if not order.shuffle:
        return tf.range(examples, dtype=tf.int64)
    numbers = tf.numpy_function(
        lambda number: permutation(examples, order.seed, int(number)), [epoch], tf.int64
    )
    return tf.ensure_shape(numbers, [examples])


def _counter(first: int) -> Callable[[], Any]:
    """A function, for graphs, that returns the next number each time it runs."""
    import tensorflow as tf

    count = itertools.count(first)
    return lambda: tf.ensure_shape(
        tf.numpy_function(lambda: np.int64(next(count)), [], tf.int64), []
    )


def _with_length(dataset: Any, examples: int | None, order: Order) -> Any:
    import tensorflow as tf

    if examples is None or order.goes_on or order.start_step:
        return dataset
    return dataset.apply(tf.data.experimental.assert_cardinality(order.steps(examples)))


def _streamed(dataset: Any, examples: int | None, order: Order, augment: Augment | None) -> Any:
    import tensorflow as tf

    size, start = order.global_batch_size, tf.constant(order.start_step, tf.int64)

    def of_pass(epoch: Any) -> Any:
        # Of this graph alone: else the order would also follow from the seed of all TensorFlow.
        tf.random.set_seed(1)
        all_batches = _shuffled(dataset, examples, order, epoch).batch(size, order.drop_remainder)
        numbered = all_batches.enumerate().skip(tf.where(epoch == order.start_epoch, start, 0))
        return numbered.map(lambda step, batch: ((epoch, step), batch))

    if order.goes_on and examples != 0:
        passes = tf.data.Dataset.range(order.start_epoch, tf.int64.max)
    else:
        next_pass = _counter(order.start_epoch)
        passes = tf.data.Dataset.range(1).map(lambda _: next_pass())
    result = passes.flat_map(of_pass).map(
        lambda place, batch: augment(batch, place) if augment else batch,
        num_parallel_calls=tf.data.AUTOTUNE if augment else None,
        deterministic=True if augment else None,
    )
    return _with_length(result, examples, order).prefetch(tf.data.AUTOTUNE)


def _shuffled(dataset: Any, examples: int | None, order: Order, epoch: Any) -> Any:
    import tensorflow as tf

    if not order.shuffle:
        return dataset
    seed = tf.random.stateless_uniform(
        [], tf.stack([order.seed, epoch]), None, None, dtype=tf.int64
    )
    buffer = min(_BUFFER_EXAMPLES, max(1, _BUFFER_BYTES // _bytes(dataset)))
    buffer = max(1, min(buffer, examples if examples is not None else buffer))
    return dataset.shuffle(buffer, seed, reshuffle_each_iteration=False)


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
