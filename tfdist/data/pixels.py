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
        return dataset.map(_scale, **parallel)
    block = max(1, min(_MAX_BLOCK, _BLOCK_VALUES // max(1, prod(shapes[0]))))
    blocks = dataset.batch(block).map(_scale, **parallel)
    # The blocks hide the length that the dataset knew.
    return blocks.unbatch().apply(tf.data.experimental.assert_cardinality(dataset.cardinality()))


def _scale(x: Any, *rest: Any) -> tuple[Any, ...]:
    import tensorflow as tf

    if x.dtype.is_integer:
        x = tf.cast(x, tf.float32) / x.dtype.max
    return (x, *rest)
