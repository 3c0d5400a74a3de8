"""Which rows of a global batch a replica computes."""

from typing import Any

import tensorflow as tf

from tfdist.data.dealt import Dealt
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


def part(batch: Any, replica: int, replicas: int, here: int = 1) -> tuple[Any, Share]:
    """Return a replica's rows of a global batch, and what they count for.

    An empty part is replaced by one row of the batch that counts 0, so that no layer ever sees an
    empty batch. Scalars and None pass through.

    Args:
        batch: The global batch, or Dealt, the rows of this task.
        replica: Number of the replica.
        replicas: How many there are in all tasks.
        here: How many there are in this task.
    """
    if isinstance(batch, Dealt):
        return _own_part(batch, replica, replicas, here)
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
    return rows_of(batch, start, rows), share


def _own_part(dealt: Dealt, replica: int, replicas: int, here: int) -> tuple[Any, Share]:
    """Return a replica's rows of those that its task has."""
    if here == 1:
        rows, start, count = batch_size(dealt.batch), 0, dealt.count
    else:
        local = replica % here
        start, stop = dealt.count * local // here, dealt.count * (local + 1) // here
        count, rows = stop - start, tf.maximum(stop - start, 1)
        start = tf.minimum(start, batch_size(dealt.batch) - 1)
    share = Share(rows, count, dealt.total, replicas, replica, made_up=True)
    if here == 1:
        return dealt.batch, share
    return rows_of(dealt.batch, start, rows), share


def rows_of(batch: Any, start: Any, rows: Any) -> Any:
    """Return so many rows of a batch; scalars and None pass through."""
    return tf.nest.map_structure(lambda leaf: _slice(leaf, start, rows), batch)


def _slice(leaf: Any, start: Any, rows: Any) -> Any:
    if leaf is None or leaf.shape.rank == 0:
        return leaf
    if isinstance(leaf, tf.SparseTensor):
        rest = leaf.dense_shape[1:]
        first = tf.cast(tf.convert_to_tensor(start)[None], tf.int64)
        size = tf.concat([tf.cast(tf.convert_to_tensor(rows)[None], tf.int64), rest], 0)
        return tf.sparse.slice(leaf, tf.concat([first, tf.zeros_like(rest)], 0), size)
    return leaf[start : start + rows]
