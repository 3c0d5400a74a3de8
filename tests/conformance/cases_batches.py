"""Batches of every length, and datasets of known, unknown and infinite length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tests.conformance import small
from tests.conformance.case import THREE, Case


def _compiled() -> dict:
    return {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}


def _case(
    name: str,
    data: Callable[[], dict],
    fit: Callable[[], dict] = dict,
    held: Callable[[], dict] | None = None,
    **more: Any,
) -> Case:
    return Case(name, "batches", small.mlp, _compiled, data, held or data, fit, **more)


def _arrays(examples: int, batch_size: int) -> Callable[[], dict]:
    def data() -> dict:
        x, y = small.blobs()
        return {"x": x[:examples], "y": y[:examples], "batch_size": batch_size}

    return data


def _in_batches(sizes: Sequence[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    x, y = small.blobs()
    ends = np.cumsum(sizes)
    for start, end in zip(ends - sizes, ends, strict=True):
        yield x[start:end], y[start:end]


def _changing(*sizes: int) -> Callable[[], dict]:
    """A dataset of these batches; its length is unknown."""
    spec = (
        tf.TensorSpec((None, small.FEATURES), tf.float32),
        tf.TensorSpec((None,), tf.int64),
    )

    def data() -> dict:
        return {
            "x": tf.data.Dataset.from_generator(lambda: _in_batches(sizes), output_signature=spec)
        }

    return data


def _of_known_length(*sizes: int) -> Callable[[], dict]:
    """The same, saying how long it is."""
    make = _changing(*sizes)

    def data() -> dict:
        dataset = make()["x"]
        return {"x": dataset.apply(tf.data.experimental.assert_cardinality(len(sizes)))}

    return data


def _dataset() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices(small.blobs()).batch(small.BATCH)


def _unknown() -> dict:
    return {
        "x": tf.data.Dataset.from_tensor_slices(small.blobs()).filter(lambda x, y: y >= 0).batch(16)
    }


def _infinite() -> dict:
    # repeat() before batch(): every batch is full, and epochs begin in the middle of the data.
    return {"x": tf.data.Dataset.from_tensor_slices(small.blobs()).repeat().batch(small.BATCH)}


def _steps(steps_per_epoch: int, epochs: int = 4) -> Callable[[], dict]:
    return lambda: {"steps_per_epoch": steps_per_epoch, "epochs": epochs}


def _epochs(epochs: int) -> Callable[[], dict]:
    return lambda: {"epochs": epochs}


def _some_steps() -> dict:
    return _infinite() | {"steps": 5}


CASES = (
    _case("even batches", _arrays(96, 16), _epochs(4)),
    _case("uneven last batch", _arrays(91, 16), _epochs(4), strategies=THREE),
    _case("last batch smaller than the number of replicas", _arrays(97, 16), strategies=THREE),
    _case("first batch odd", _of_known_length(15, 16, 16, 16, 16, 16, 2), strategies=THREE),
    _case("batch size smaller than the number of replicas", _arrays(23, 1)),
    _case("batch size 2", _arrays(45, 2), strategies=("mirrored_3",)),
    _case(
        "batches of changing length", _of_known_length(5, 16, 1, 30, 2, 7, 3, 33), strategies=THREE
    ),
    _case("dataset of unknown length", _unknown, iterations=21),
    _case(
        "batches of changing length, dataset of unknown length",
        _changing(16, 3, 1, 24, 9, 2, 42),
        iterations=21,
    ),
    _case("infinite dataset with steps_per_epoch", _infinite, _steps(6), _some_steps),
    _case(
        "steps_per_epoch smaller than the dataset, which goes on",
        lambda: {"x": _dataset().repeat()},
        _steps(5, 5),
        lambda: {"x": _dataset()},
    ),
    _case(
        "steps_per_epoch that does not divide a finite dataset",
        lambda: {"x": _dataset()},
        _steps(3, 9),
    ),
    _case("steps_per_epoch with arrays", small.classes, _steps(7, 3)),
)
