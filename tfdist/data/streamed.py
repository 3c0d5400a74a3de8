"""In which batches are examples read that come one after the other?"""

from __future__ import annotations

from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.order import Order
from tfdist.data.passes import counter, with_length
from tfdist.data.reader import as_written

_BUFFER_EXAMPLES = 10_000
_BUFFER_BYTES = 2**28
_UNKNOWN_BYTES = 2**18  # Of an example whose size is not known.


def streamed(dataset: Any, examples: int | None, order: Order, augment: Augment | None) -> Any:
    """Return the dataset of the batches; `order` starts within a pass where `examples` is known."""
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
        next_pass = counter(order.start_epoch)
        passes = tf.data.Dataset.range(1).map(lambda _: next_pass())
    result = passes.flat_map(as_written(of_pass)).map(
        lambda place, batch: augment(batch, place) if augment else batch,
        num_parallel_calls=tf.data.AUTOTUNE if augment else None,
        deterministic=True if augment else None,
    )
    return with_length(result, examples, order).prefetch(tf.data.AUTOTUNE)


def _shuffled(dataset: Any, examples: int | None, order: Order, epoch: Any) -> Any:
    import tensorflow as tf

    if not order.shuffle:
        return dataset
    seed = tf.random.stateless_uniform(
        [], tf.stack([order.seed, epoch]), None, None, dtype=tf.int64
    )
    buffer = buffered(dataset, examples)
    return dataset.shuffle(buffer, seed, reshuffle_each_iteration=False)


def buffered(dataset: Any, examples: int | None) -> int:
    """Return how many examples a shuffle keeps in memory."""
    buffer = min(_BUFFER_EXAMPLES, max(1, _BUFFER_BYTES // example_bytes(dataset)))
    return max(1, min(buffer, examples if examples is not None else buffer))


def example_bytes(dataset: Any) -> int:
    """Return the bytes of an example, by a guess where its shape is not known."""
    import tensorflow as tf

    return sum(
        spec.shape.num_elements() * spec.dtype.size
        if isinstance(spec, tf.TensorSpec) and spec.shape.is_fully_defined()
        else _UNKNOWN_BYTES
        for spec in tf.nest.flatten(dataset.element_spec)
    )
