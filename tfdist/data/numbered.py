"""In which batches are examples read that have numbers?"""

from __future__ import annotations

from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.dealt import Dealt
from tfdist.data.order import Order
from tfdist.data.passes import counter, with_length
from tfdist.data.permutation import permutation
from tfdist.data.pixels import block_of
from tfdist.data.reader import Reader, as_written


def numbered(
    reader: Reader, order: Order, augment: Augment | None, task: int = 0, tasks: int = 1
) -> Any:
    """Return the dataset of the batches; `order` starts within a pass.

    With several tasks, which need a reader that loses no example, the elements are the rows of one
    of them, as `Dealt`.
    """
    import tensorflow as tf

    at_once = 1 if augment else _batches_at_once(reader, order, tasks)

    def read(place: Any, numbers: Any) -> Any:
        numbers = numbers if at_once > 1 else numbers[0]
        if tasks > 1:
            return _dealt(reader, augment, place, numbers, task, tasks)
        batch = reader.batch(numbers)
        return augment(batch, place) if augment else batch

    dataset = _numbers(reader, order, at_once).map(
        as_written(read), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    dataset = dataset.unbatch() if at_once > 1 else dataset
    if reader.may_lose:
        dataset = dataset.filter(_is_not_empty)
    else:
        dataset = with_length(dataset, reader.examples, order)
    return dataset.prefetch(tf.data.AUTOTUNE)


def _batches_at_once(reader: Reader, order: Order, tasks: int) -> int:
    """How many batches are read in one call: several where the call costs more than the reading."""
    in_memory = reader.needs_no_copy or reader.original is not None
    if not in_memory or reader.may_lose:
        return 1
    rows = -(-order.global_batch_size // tasks)
    return max(1, min(block_of(reader.stored_spec) // rows, order.steps(reader.examples)))


def _dealt(
    reader: Reader, augment: Augment | None, place: Any, numbers: Any, task: int, tasks: int
) -> Dealt:
    """Read the rows of a task; where it has none, one that counts nothing."""
    import tensorflow as tf

    total = tf.shape(numbers)[-1] if numbers.shape[-1] is None else numbers.shape[-1]
    start, stop = total * task // tasks, total * (task + 1) // tasks
    if isinstance(total, int):
        first, last = min(start, total - 1), max(stop, 1 + min(start, total - 1))
    else:  # the same numbers, as tensors
        first = tf.minimum(start, total - 1)
        last = tf.maximum(stop, first + 1)
    batch = reader.batch(numbers[..., first:last])
    batch = augment(batch, place, first) if augment else batch
    each = tf.shape(numbers)[:-1]
    return Dealt(batch, tf.fill(each, stop - start), tf.fill(each, total))


def _numbers(reader: Reader, order: Order, at_once: int) -> Any:
    """The dataset of what is read in each call: the place, and numbers of shape [batches, rows].

    The batches are up to `at_once` full ones of a pass, or its last one alone that is not full.
    """
    import tensorflow as tf

    examples, size = reader.examples, order.global_batch_size
    steps, full = order.steps(examples), examples // size
    calls = -(-full // at_once) + steps - full  # In a pass.
    all_full = not reader.may_lose and steps == full
    endless = order.goes_on and steps > 0
    first = order.start_epoch * calls + order.start_step // at_once
    next_pass, start = counter(order.start_epoch), tf.constant(order.start_step, tf.int64)
    rest = tf.constant(examples % size, tf.int64)

    def take(state: tuple[Any, Any], count: Any) -> Any:
        # The numbers of a pass stay from step to step, so that Python is called once a pass.
        epoch, numbers = state
        now = count // calls if endless else tf.cond(epoch < 0, next_pass, lambda: epoch)
        numbers = tf.cond(now == epoch, lambda: numbers, lambda: _in_order(examples, order, now))
        step = tf.minimum(count % calls * at_once, full)
        end = tf.where(step < full, tf.minimum(step + at_once, full), steps)
        begin = tf.where(now == order.start_epoch, start, 0)
        step = tf.minimum(tf.maximum(step, begin), end)  # At the end, nothing is left to be read.
        rows = tf.where(end > full, rest, size)
        part = tf.reshape(numbers[step * size : end * size], [end - step, rows])
        part = tf.ensure_shape(part, [None, size if all_full else None])
        return (now, numbers), ((now, step), part)

    counts = tf.data.Dataset.range(first, tf.int64.max) if endless else tf.data.Dataset.range(calls)
    none = tf.constant(-1, tf.int64), tf.zeros([0], tf.int64)
    dataset = counts.scan(none, as_written(take))
    return dataset.filter(lambda _, part: tf.shape(part)[0] > 0) if order.start_step else dataset


def _in_order(examples: int, order: Order, epoch: Any) -> Any:
    """The numbers of all examples, in the order of a pass: 8 bytes of memory for each."""
    import tensorflow as tf

    if not order.shuffle:
        return tf.range(examples, dtype=tf.int64)
    numbers = tf.numpy_function(
        lambda number: permutation(examples, order.seed, int(number)), [epoch], tf.int64
    )
    return tf.ensure_shape(numbers, [examples])


def _is_not_empty(*batch: Any) -> Any:
    import tensorflow as tf

    return tf.shape(tf.nest.flatten(batch)[0])[0] > 0
