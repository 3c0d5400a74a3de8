"""The global batches of a verification: the same ones in each of its trainings."""

from __future__ import annotations

import hashlib
from typing import Any

import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training.parts import batch_size

_DIGEST_BYTES = 6


class Batches:
    """The first global batches of a dataset, kept in memory.

    Args:
        dataset: Global batches; it begins again when it has too few.
        steps: Number of batches.
        replicas: Replicas that share a batch. The last batch loses an example when they could share
            it evenly, unless batches have a fixed size.

    Raises:
        UsageError: it is no dataset, or gives nothing.
    """

    def __init__(self, dataset: tf.data.Dataset, steps: int, replicas: int) -> None:
        if not isinstance(dataset, tf.data.Dataset):
            raise UsageError(
                f"tfdist.verify() takes a tf.data.Dataset of global batches, but received "
                f"{type(dataset).__name__}: arrays become one with "
                "tf.data.Dataset.from_tensor_slices((x, y)).batch(global_batch_size)"
            )
        self._replicas = replicas
        self._may_be_cut = all(map(_has_any_size, tf.nest.flatten(dataset.element_spec)))
        # Cached, because a dataset may shuffle anew each time it is gone through.
        cached = dataset.repeat().take(steps).enumerate().map(self._uneven(steps - 1)).cache()
        elements = list(cached)
        if not elements:
            raise UsageError("the dataset gave no batch: give one with examples")
        self.sizes = tuple(int(batch_size(element)) for element in elements)
        self.digests = tuple(map(_digest, elements))
        self.dataset = cached.apply(tf.data.experimental.assert_cardinality(len(elements)))

    @property
    def element_spec(self) -> Any:
        """The structure of a batch."""
        return self.dataset.element_spec

    def reversed(self) -> tf.data.Dataset:
        """Return them with the rows of each batch in reverse: other roundings, the same numbers."""
        return self.dataset.map(_reversed)

    def even(self) -> tf.data.Dataset:
        """Return them without the rows that the replicas cannot share evenly."""
        return self.dataset.map(lambda *b: self._shared_evenly(_one(b)))

    def last(self) -> tf.data.Dataset:
        """Return the last one alone."""
        return self.dataset.skip(len(self.sizes) - 1)

    def _shared_evenly(self, batch: Any) -> Any:
        if not self._may_be_cut:
            return batch
        size = batch_size(batch)
        even = size // self._replicas * self._replicas
        return _rows(batch, tf.where(even > 0, even, size))

    def _uneven(self, last: int) -> Any:
        def cut(index: tf.Tensor, batch: Any) -> Any:
            if not self._may_be_cut:
                return batch
            size = batch_size(batch)
            shared_evenly = tf.logical_and(size % self._replicas == 0, size > 1)
            shorter = tf.logical_and(shared_evenly, index == last)
            return _rows(batch, size - tf.cast(shorter, tf.int32))

        return cut


def _one(arguments: tuple) -> Any:
    """Undo what `map` does to a tuple."""
    return arguments[0] if len(arguments) == 1 else arguments


def _has_any_size(spec: Any) -> bool:
    kinds = (tf.TensorSpec, tf.RaggedTensorSpec)
    return isinstance(spec, kinds) and bool(spec.shape.rank) and spec.shape[0] is None


def _rows(batch: Any, count: Any) -> Any:
    return tf.nest.map_structure(lambda leaf: leaf[:count], batch)


def _reversed(*arguments: Any) -> Any:
    batch = _one(arguments)
    if any(isinstance(leaf, tf.SparseTensor) for leaf in tf.nest.flatten(batch)):
        return batch
    order = tf.range(batch_size(batch) - 1, -1, -1)
    return tf.nest.map_structure(
        lambda leaf: leaf if leaf is None or not leaf.shape.rank else tf.gather(leaf, order), batch
    )


def in_double_precision(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return a dataset whose floating point numbers are float64."""

    def cast(leaf: Any) -> Any:
        return tf.cast(leaf, tf.float64) if leaf is not None and leaf.dtype.is_floating else leaf

    return dataset.map(lambda *arguments: tf.nest.map_structure(cast, _one(arguments)))


def _digest(element: Any) -> int:
    total = hashlib.sha256()
    for leaf in tf.nest.flatten(element, expand_composites=True):
        if leaf is not None:
            array = leaf.numpy()
            total.update(f"{array.dtype}{array.shape}".encode())
            strings = array.dtype == object
            total.update(repr(array.tolist()).encode() if strings else array.tobytes())
    return int.from_bytes(total.digest()[:_DIGEST_BYTES], "big")
