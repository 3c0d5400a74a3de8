"""Under parameter servers a worker fetches the rows of an Embedding that a batch uses, no others.

Keras gathers them from the whole table, which would travel to the worker at each step. Here the
server gathers; the gradient is of rows in either case, and applied where the table is.
"""

from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals


def teach_take() -> None:
    """Make layers take rows of a variable where it is kept."""
    internals.intercept(internals.keras_ops, "take", lambda: True, _take)


def _take(_: Any, original: Any, x: Any, indices: Any, axis: Any = None) -> Any:
    table = _kept_apart(x)
    if table is None or axis != 0 or not isinstance(indices, tf.Tensor):
        return original(x, indices, axis=axis)
    size = tf.cast(table.shape[0], indices.dtype)
    rows = table.sparse_read(tf.where(indices < 0, indices + size, indices))
    return tf.cast(rows, x.dtype)


def _kept_apart(x: Any) -> Any:
    """Return the TensorFlow variable that a server keeps, if this is one that nobody assigned."""
    if not isinstance(x, keras.Variable):
        return None
    scope = internals.stateless_scope()
    value = None if scope is None else scope.get_current_value(x)
    raw = internals.raw(x) if value is None else value
    return raw if isinstance(raw, tf.Variable) and "/job:ps" in raw.device else None
