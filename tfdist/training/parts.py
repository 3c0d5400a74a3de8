"""Which rows of a global batch a replica computes."""

from typing import Any

import tensorflow as tf

from tfdist.data.split import rows as split_rows
from tfdist.training.share import Share


def batch_size(batch: Any) -> Any:
    """Return the number of examples in a batch: an int where it is static, else a tensor."""
    for leaf in tf.nest.flatten(batch):
        if leaf is not None and leaf.shape.rank != 0:
            static = leaf.shape[0] if leaf.shape.rank else None
            if static is not None:
                return static
            return _dynamic_size(leaf)
    return 1


def _dynamic_size(leaf: Any) -> tf.Tensor:
    if isinstance(leaf, tf.SparseTensor):
        return tf.cast(leaf.dense_shape[0], tf.int32)
    if isinstance(leaf, tf.RaggedTensor):
        return tf.cast(leaf.nrows(), tf.int32)
    return tf.shape(leaf)[0]


def part(batch: Any, replica: int, replicas: int) -> tuple[Any, Share]:
    """Return a replica's rows of a global batch, and what they count for.

    An empty part is replaced by one row of the batch that counts 0, so that no layer ever sees an
    empty batch. Scalars and None pass through.
    """
    total = batch_size(batch)
    if replicas == 1:
        return batch, Share(total, total, total, 1, 0)
    if isinstance(total, int):
        start, stop = split_rows(total, replica, replicas)
        count = stop - start
        start, rows = min(start, total - 1), max(count, 1)
    else:  # the same rows, as tensors
        start, stop = total * replica // replicas, total * (replica + 1) // replicas
        count = stop - start
        start, rows = tf.minimum(start, total - 1), tf.maximum(count, 1)
    share = Share(rows, count, total, replicas, replica)
    return tf.nest.map_structure(lambda leaf: _slice(leaf, start, rows), batch), share


def _slice(leaf: Any, start: Any, rows: Any) -> Any:
    if leaf is None or leaf.shape.rank == 0:
        return leaf
    if isinstance(leaf, tf.SparseTensor):
        rest = leaf.dense_shape[1:]
        first = tf.cast(tf.convert_to_tensor(start)[None], tf.int64)
        size = tf.concat([tf.cast(tf.convert_to_tensor(rows)[None], tf.int64), rest], 0)
        return tf.sparse.slice(leaf, tf.concat([first, tf.zeros_like(rest)], 0), size)
    return leaf[start : start + rows]
