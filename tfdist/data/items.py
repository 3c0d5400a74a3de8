"""Which items of a PyDataset does each worker make? Every so manieth, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def by_worker(items: Any) -> Callable[[Any], Any]:
    """Return the function for `per_worker` that gives a worker its items.

    Step s has the items s * workers to (s + 1) * workers - 1, one of each worker. `on_epoch_end`,
    where there is one, is called in each worker between epochs.

    Args:
        items: has a length, and gives a batch by its number, as a `keras.utils.PyDataset` does.
    """
    begun: list[int] = []

    def own(context: Any) -> Any:
        for _ in range(begun[-1] if begun else context.epoch, context.epoch):
            getattr(items, "on_epoch_end", lambda: None)()
        begun[:] = [context.epoch]
        return _dataset(items, range(context.worker, len(items), context.workers))

    own.__name__ = type(items).__name__
    return own


def _dataset(items: Any, mine: range) -> Any:
    import numpy as np
    import tensorflow as tf

    first = tf.nest.map_structure(np.asarray, items[mine[0] if mine else 0])
    leaves = tf.nest.flatten(first)

    def make(number: Any) -> list[Any]:
        return [np.asarray(leaf) for leaf in tf.nest.flatten(items[int(number)])]

    def batch(number: Any) -> Any:
        parts = tf.numpy_function(make, [number], [leaf.dtype for leaf in leaves])
        for part, leaf in zip(parts, leaves, strict=True):
            part.set_shape([None, *leaf.shape[1:]])
        return tf.nest.pack_sequence_as(first, parts)

    numbers = tf.data.Dataset.from_tensor_slices(np.array(mine, np.int64))
    calls = max(1, getattr(items, "workers", 1))
    return numbers.map(batch, num_parallel_calls=calls, deterministic=True)
