"""Is it the same example? Sixteen bytes that tell one example from another."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

DIGEST_BYTES = 16


def of_batch(batch: Any) -> list[bytes]:
    """Return a digest (BLAKE2b) of each example of a batch of tensors.

    Two different examples of a dataset have the same one with a probability below 2**-128 times the
    number of pairs of examples.
    """
    import tensorflow as tf

    leaves = [_rows(leaf) for leaf in tf.nest.flatten(batch)]
    return [_digest(parts) for parts in zip(*leaves, strict=True)]


def _rows(leaf: Any) -> Any:
    """The rows of a tensor, as arrays or as lists."""
    import tensorflow as tf

    if isinstance(leaf, tf.RaggedTensor):
        return leaf.to_list()
    if isinstance(leaf, tf.SparseTensor):
        leaf = tf.sparse.to_dense(leaf)
    return np.asarray(leaf)


def _digest(parts: tuple[Any, ...]) -> bytes:
    total = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        if isinstance(part, np.ndarray | np.generic) and part.dtype != object:
            content = part.tobytes()
        else:  # Texts, and rows of a length of their own.
            content = repr(part.tolist() if isinstance(part, np.ndarray) else part).encode()
        total.update(len(content).to_bytes(8, "little"))
        total.update(content)
    return total.digest()
