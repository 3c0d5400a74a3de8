"""`tfdist.global_sum`: for a train_step of the user's own that takes a sum over its rows."""

from typing import Any

import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training.share import Share, current


def global_sum(value: Any, per: Any = None) -> tf.Tensor:
    """Return a sum over a step's own rows so that it counts as that over the global batch.

    A replica sees its rows of the global batch, and every scalar it makes is taken for the mean
    over them: means need no help. On one device, or outside a step, the value is returned as it is.

    Args:
        value: A scalar, the sum over the rows that the step received.
        per: A scalar of the same kind to divide by, such as the number of tokens that count: what
            is divided by is its sum over all replicas.

    Raises:
        UsageError: `value` or `per` is no scalar.
    """
    added = _scalar("value", value)
    count = None if per is None else tf.cast(_scalar("per", per), added.dtype)
    share = current()
    if share is not None and share.replicas > 1:
        added = added * _scale(share, added.dtype)
        count = None if count is None else share.sum(count)
    return added if count is None else tf.math.divide_no_nan(added, count)


def _scale(share: Share, dtype: tf.DType) -> tf.Tensor:
    """Return what makes of the mean over replicas, weighted by their rows, their sum."""
    return tf.cast(share.total, dtype) / tf.cast(share.rows, dtype)


def _scalar(name: str, value: Any) -> tf.Tensor:
    tensor = tf.convert_to_tensor(value)
    if tensor.shape.rank != 0:
        raise UsageError(
            f"tfdist.global_sum() takes a scalar, but its {name} has the shape {tensor.shape}: sum "
            "it over the rows first, with keras.ops.sum()"
        )
    return tensor
