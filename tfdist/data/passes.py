"""Which pass over the data is it, and how long is it?"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from tfdist.data.order import Order


def counter(first: int) -> Callable[[], Any]:
    """Return a function, for graphs, that gives the next number each time it runs."""
    import numpy as np
    import tensorflow as tf

    count = itertools.count(first)
    return lambda: tf.ensure_shape(
        tf.numpy_function(lambda: np.int64(next(count)), [], tf.int64), []
    )


def with_length(dataset: Any, examples: int | None, order: Order) -> Any:
    """Return the dataset with the number of its batches, where that is known."""
    import tensorflow as tf

    if examples is None or (order.start_step and not order.goes_on):
        return dataset
    steps = order.steps(examples)
    length = tf.data.INFINITE_CARDINALITY if order.goes_on and steps else steps
    return dataset.apply(tf.data.experimental.assert_cardinality(length))
