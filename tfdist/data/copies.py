"""Which examples were read already, and where are their copies?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfdist.data.reader import Reader

Allocate = Callable[[str, tuple[int, ...], Any], np.ndarray]  # From a name, a shape and a dtype.


class Copies:
    """The copies of examples, each made when the example is read first.

    Args:
        reader: what is copied.
        specs: the parts of one example.
        allocate: gives the arrays in which they are kept.
    """

    def __init__(self, reader: Reader, specs: Sequence[Any], allocate: Allocate) -> None:
        self._reader = reader
        self._specs = specs
        self._parts = [
            allocate(str(place), (reader.examples, *spec.shape), spec.dtype.as_numpy_dtype)
            for place, spec in enumerate(specs)
        ]
        self._there = allocate("there", (reader.examples,), np.bool_)

    def read(self, numbers: Any) -> Any:
        """As `Reader.read`."""
        import tensorflow as tf

        dtypes = [spec.dtype for spec in self._specs]

        def first_time() -> Any:
            missing = tf.numpy_function(self._missing, [numbers], tf.int64)
            missing = tf.ensure_shape(missing, [None])
            read = tf.nest.flatten(self._reader.read(missing))
            kept = tf.numpy_function(self._keep, [missing, *read], tf.bool)
            return tf.cond(
                kept,
                lambda: tf.numpy_function(self._take, [numbers], [tf.bool, *dtypes])[1:],
                lambda: tf.nest.flatten(self._reader.read(numbers)),
            )

        found, *copies = tf.numpy_function(self._take, [numbers], [tf.bool, *dtypes])
        parts = tf.cond(found, lambda: copies, first_time)
        for part, spec in zip(parts, self._specs, strict=True):
            part.set_shape([None, *spec.shape])
        return tf.nest.pack_sequence_as(self._reader.stored_spec, parts)

    def _missing(self, numbers: np.ndarray) -> np.ndarray:
        return numbers[~self._there[numbers]]

    def _take(self, numbers: np.ndarray) -> list[np.ndarray]:
        found = self._there[numbers].all()
        taken = numbers if found else numbers[:0]
        return [np.asarray(found), *(np.asarray(part[taken]) for part in self._parts)]

    def _keep(self, numbers: np.ndarray, *parts: np.ndarray) -> bool:
        if len(parts[0]) < len(numbers):
            return False  # One was left out, and nothing says which.
        for copies, part in zip(self._parts, parts, strict=True):
            copies[numbers] = part
        self._there[numbers] = True
        return True
