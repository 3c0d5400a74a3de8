"""A task's own data as batches without end: parts of global batches, then parts that count 0."""

from typing import Any

import tensorflow as tf

from tfdist.data.dealt import Dealt, Declared
from tfdist.training.parts import batch_size, rows_of
from tfdist.transport import sum_once


def endless(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return the batches of a task as Declared, and then, for ever, a row that counts 0.

    It is the first row of the last batch: numbers that a model can compute on.

    Args:
        dataset: The batches of one task; their number may differ from task to task.
    """
    spec = dataset.element_spec
    there = dataset.map(lambda *batch: (tf.constant(1), _one(batch)))
    ended = tf.data.Dataset.from_tensors(0).map(lambda _: (tf.constant(0), nothing(spec)))
    with tf.device("CPU:0"):
        return there.concatenate(ended.repeat()).scan(nothing(spec), _declared)


def agreed(strategy: tf.distribute.Strategy, part: Declared) -> tuple[Dealt, tf.Tensor]:
    """Return a task's part with the size of the global batch, and whether any task has data."""
    mine = tf.cast(tf.stack([part.count, part.goes_on]), tf.float64)
    total, goes_on = tf.unstack(tf.cast(tf.round(sum_once(strategy, mine)), tf.int32))
    return Dealt(part.batch, part.count, total), goes_on > 0


def nothing(spec: Any) -> Any:
    """Return a batch of this structure of one row of zeros, or of the rows that it always has."""
    return tf.nest.map_structure(_zeros, spec)


def _declared(row: Any, element: tuple[tf.Tensor, Any]) -> tuple[Any, Declared]:
    """Return the row that stands in for what is missing later, and this part."""
    there, batch = element
    count = there * tf.convert_to_tensor(batch_size(batch), tf.int32)
    batch = tf.cond(count > 0, lambda: batch, lambda: row)
    return rows_of(batch, 0, 1), Declared(batch, count, there)


def _zeros(spec: Any) -> Any:
    if not hasattr(spec, "shape"):
        return None
    shape = [size or 1 for size in spec.shape.as_list()]
    if isinstance(spec, tf.SparseTensorSpec):
        none = tf.zeros([0, len(shape)], tf.int64)
        return tf.SparseTensor(none, tf.zeros([0], spec.dtype), tf.constant(shape, tf.int64))
    if isinstance(spec, tf.RaggedTensorSpec):
        return tf.RaggedTensor.from_tensor(
            tf.zeros(shape, spec.dtype),
            ragged_rank=spec.ragged_rank,
            row_splits_dtype=spec.row_splits_dtype,
        )
    return tf.zeros(shape, spec.dtype)


def _one(arguments: tuple) -> Any:
    """Undo what `map` does to a tuple."""
    return arguments[0] if len(arguments) == 1 else arguments
