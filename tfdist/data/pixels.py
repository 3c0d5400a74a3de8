"""How do images become numbers in [0, 1]?"""

from __future__ import annotations

from math import prod
from typing import Any

# One call for a block of small images costs a tenth of a call for each; large ones gain nothing.
_BLOCK_VALUES = 2**18
_MAX_BLOCK = 256  # Examples.


def scaled(dataset: Any) -> Any:
    """Scale x of whole numbers to float32 in [0, 1]; other x, and y, stay as they are.

    Order and length of `dataset`, which gives single examples (x, y, ...), stay too.
    """
    import tensorflow as tf

    parallel = {"num_parallel_calls": tf.data.AUTOTUNE, "deterministic": True}
    shapes = [leaf.shape for leaf in tf.nest.flatten(dataset.element_spec)]
    if not all(shape.is_fully_defined() for shape in shapes):
        return dataset.map(scale, **parallel)
    blocks = dataset.batch(_block(shapes[0])).map(scale, **parallel)
    # The blocks hide the length that the dataset knew.
    return blocks.unbatch().apply(tf.data.experimental.assert_cardinality(dataset.cardinality()))


def finished(batch: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return a stored batch (x, y) as a model takes it, in a graph.

    Pixels (uint8, uint16) become float32 in [0, 1], fractions and truths float32, whole numbers in
    y int64; other whole numbers in x, such as those of words, stay as they are.
    """
    import tensorflow as tf

    x, y = batch
    return tf.nest.map_structure(_finished_x, x), tf.nest.map_structure(_finished_y, y)


def block_of(batch_spec: Any) -> int:
    """Return the number of examples that are best read in one call, from the spec of a batch."""
    import tensorflow as tf

    return _block(tf.nest.flatten(batch_spec)[0].shape[1:])


def _block(shape: Any) -> int:
    if not shape.is_fully_defined():
        return 1
    return max(1, min(_MAX_BLOCK, _BLOCK_VALUES // max(1, prod(shape))))


def scale(x: Any, *rest: Any) -> tuple[Any, ...]:
    """Return (x, ...) with x of whole numbers as float32 in [0, 1], in a graph."""
    import tensorflow as tf

    if x.dtype.is_integer:
        x = tf.cast(x, tf.float32) / x.dtype.max
    return (x, *rest)


def _finished_x(x: Any) -> Any:
    import tensorflow as tf

    if x.dtype in (tf.uint8, tf.uint16):
        return scale(x)[0]
    return tf.cast(x, tf.float32) if x.dtype.is_floating or x.dtype.is_bool else x


def _finished_y(y: Any) -> Any:
    import tensorflow as tf

    return tf.cast(y, tf.int64 if y.dtype.is_integer else tf.float32)
