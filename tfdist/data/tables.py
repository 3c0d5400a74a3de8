"""Copies of examples in TensorFlow's own memory, where a graph finds them without Python.

Plain resources rather than `tf.Variable`, which a strategy would make its own.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

from tfdist.data.reader import Reader

_number = itertools.count()


class Tables:
    """The copies of examples, each made when the example is read first; as `Copies`.

    Args:
        reader: what is copied.
        specs: the parts of one example.
    """

    def __init__(self, reader: Reader, specs: Sequence[Any]) -> None:
        import tensorflow as tf

        self._reader = reader
        self._specs = specs
        self._parts = [
            self._table([reader.examples, *spec.shape], spec.dtype) for spec in self._specs
        ]
        self._there = self._table([reader.examples], tf.bool)

    def read(self, numbers: Any) -> Any:
        """As `Reader.read`."""
        import tensorflow as tf

        raw = tf.raw_ops

        def take() -> list[Any]:
            return [
                raw.ResourceGather(resource=table, indices=numbers, dtype=spec.dtype)
                for table, spec in zip(self._parts, self._specs, strict=True)
            ]

        def keep(missing: Any, parts: list[Any]) -> Any:
            with tf.control_dependencies(
                [
                    raw.ResourceScatterUpdate(resource=table, indices=missing, updates=part)
                    for table, part in zip(self._parts, parts, strict=True)
                ]
            ):
                here = tf.ones_like(missing, tf.bool)
                done = raw.ResourceScatterUpdate(
                    resource=self._there, indices=missing, updates=here
                )
            with tf.control_dependencies([done]):
                return [tf.identity(part) for part in take()]

        def first_time() -> list[Any]:
            missing = tf.boolean_mask(numbers, tf.logical_not(there))
            parts = tf.nest.flatten(self._reader.read(missing))
            # When one was left out, nothing says which.
            whole = tf.equal(tf.shape(parts[0])[0], tf.size(missing))
            return tf.cond(
                whole,
                lambda: keep(missing, parts),
                lambda: tf.nest.flatten(self._reader.read(numbers)),
            )

        there = raw.ResourceGather(resource=self._there, indices=numbers, dtype=tf.bool)
        there = tf.ensure_shape(there, numbers.shape)
        parts = tf.cond(tf.reduce_all(there), take, first_time)
        for part, spec in zip(parts, self._specs, strict=True):
            part.set_shape([None, *spec.shape])
        return tf.nest.pack_sequence_as(self._reader.stored_spec, parts)

    def _table(self, shape: list[int], dtype: Any) -> Any:
        import tensorflow as tf

        with tf.init_scope(), tf.device("CPU:0"):
            name = f"tfdist_copies_{next(_number)}"
            table = tf.raw_ops.VarHandleOp(dtype=dtype, shape=shape, shared_name=name)
            tf.raw_ops.AssignVariableOp(resource=table, value=tf.zeros(shape, dtype))
        weakref.finalize(self, tf.raw_ops.DestroyResourceOp, resource=table).atexit = False
        return table
