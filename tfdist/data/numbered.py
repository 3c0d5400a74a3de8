"""In which batches are examples read that have numbers?"""

from __future__ import annotations

from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.dealt import Dealt
from tfdist.data.order import Order
from tfdist.data.passes import counter, with_length
from tfdist.data.permutation import permutation
from tfdist.data.reader import Reader, as_written


def numbered(
    reader: Reader, order: Order, augment: Augment | None, task: int = 0, tasks: int = 1
) -> Any:
    """Return the dataset of the batches; `order` starts within a pass.

    With several tasks, which need a reader that loses no example, the elements are the rows of one
    of them, as `Dealt`.
    """
    import tensorflow as tf

    def read(place: Any, numbers: Any) -> Any:
        if tasks > 1:
            return _dealt(reader, augment, place, numbers, task, tasks)
        batch = reader.batch(numbers)
        return augment(batch, place) if augment else batch

    dataset = _numbers(reader, order).map(
        as_written(read), num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    if reader.may_lose:
        dataset = dataset.filter(_is_not_empty)
    else:
        dataset = with_length(dataset, reader.examples, order)
    return dataset.prefetch(tf.data.AUTOTUNE)


def _dealt(
    reader: Reader, augment: Augment | None, place: Any, numbers: Any, task: int, tasks: int
) -> Dealt:
    """Read the rows of a task; where it has none, one that counts nothing."""
    import tensorflow as tf

    total = tf.size(numbers) if numbers.shape[0] is None else numbers.shape[0]
    start, stop = total * task // tasks, total * (task + 1) // tasks
    if isinstance(total, int):
        first, last = min(start, total - 1), max(stop, 1 + min(start, total - 1))
    else:  # the same numbers, as tensors
        first = tf.minimum(start, total - 1)
        last = tf.maximum(stop, first + 1)
    batch = reader.batch(numbers[first:last])
    batch = augment(batch, place, first) if augment else batch
    return Dealt(batch, tf.convert_to_tensor(stop - start), tf.convert_to_tensor(total))


def _numbers(reader: Reader, order: Order) -> Any:
    """The dataset of the batches to read: the place, and the numbers of the examples."""
    import tensorflow as tf

    examples, size = reader.examples, order.global_batch_size
    steps = order.steps(examples)
    all_full = not reader.may_lose and (order.drop_remainder or steps * size == examples)
    endless = order.goes_on and steps > 0
    first = order.start_epoch * steps + order.start_step
    next_pass = counter(order.start_epoch)

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
    dataset = counts.scan(none, as_written(take))
    if order.start_step and not endless:
        return dataset.filter(lambda place, _: place[0] * steps + place[1] >= first)
    return dataset


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
