"""Sources of batches: arrays, generators, PyDatasets; and data for validation."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from tests.conformance import small
from tests.conformance.case import Case
from tests.conformance.record import Record


def _case(
    name: str,
    fit: Callable[[], dict],
    data: Callable[[], dict] = small.classes,
    held: Callable[[], dict] = small.classes,
    **more: Any,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}

    return Case(name, "inputs", small.mlp, compiled, data, held, fit, **more)


def _generator(sizes: tuple[int, ...], forever: bool = False) -> Iterator:
    x, y = small.blobs()
    while True:
        start = 0
        for size in sizes:
            yield x[start : start + size], y[start : start + size]
            start += size
        if not forever:
            return


_UNEVEN = (5, 3, 7, 1, 4, 6, 2, 5, 3, 7, 1, 4, 6, 2, 5, 3, 7, 1, 4, 6, 2, 5, 8)


def _once() -> dict:
    return {"x": _generator(_UNEVEN)}


def _forever() -> dict:
    return {"x": _generator((30, 20, 17, 30), forever=True)}


class Batches(keras.utils.PyDataset):
    """Uneven batches by number."""

    def __len__(self) -> int:
        return 7

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = small.blobs()
        return x[number * 15 : number * 15 + 15], y[number * 15 : number * 15 + 15]


class Total(keras.metrics.Metric):
    """The number of examples, and the sum of their numbers and of their squares."""

    def __init__(self) -> None:
        super().__init__(name="total")
        self.sums = self.add_variable((3,), "zeros", name="sums")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y = ops.cast(ops.reshape(y_true, (-1,)), "float32")
        self.sums.assign_add(ops.stack([ops.sum(y**0), ops.sum(y), ops.sum(y * y)]))

    def result(self) -> Any:
        return {"count": self.sums[0], "sum": self.sums[1], "squares": self.sums[2]}


def numbered() -> dict:
    x, _ = small.blobs()
    return {"x": x, "y": np.arange(small.EXAMPLES, dtype="float32"), "batch_size": small.BATCH}


def each_once(record: Record, reference: Record, replicas: int) -> list[str]:
    wrong = [
        k
        for k in ("count", "sum", "squares")
        if not np.array_equal(record.logs[k], reference.logs[k])
    ]
    return [f"the {k} of the examples is {record.logs[k]}, not {reference.logs[k]}" for k in wrong]


_SHUFFLED = Case(
    "arrays, shuffled",
    "inputs",
    functools.partial(small.mlp, 1),
    lambda: {"optimizer": small.sgd(0.0001), "loss": "mse", "metrics": [Total()]},
    numbered,
    numbered,
    lambda: {"shuffle": True},
    by_design="another order of the examples, each once in every epoch and the same on all tasks",
    expect=each_once,
)


def _some(count: int) -> tuple[Any, Any]:
    x, y = small.blobs()
    return x[:count], y[:count]


CASES = (
    _case("generator", lambda: {"epochs": 1}, _once, iterations=23),
    _case("infinite generator", lambda: {"steps_per_epoch": 7}, _forever),
    _case("PyDataset with workers", dict, lambda: {"x": Batches(workers=2)}),
    _SHUFFLED,
    _case("validation_split", lambda: {"validation_split": 0.29, "epochs": 5}),
    _case("validation_data, arrays", lambda: {"validation_data": _some(37)}),
    _case(
        "validation_data, weighted arrays, batches of their own",
        lambda: {
            "validation_data": (*_some(37), small.weights()[:37]),
            "validation_batch_size": 9,
        },
    ),
    _case(
        "validation_data, dataset, validation_steps and validation_freq",
        lambda: {
            "validation_data": tf.data.Dataset.from_tensor_slices(_some(90)).repeat().batch(13),
            "validation_steps": 4,
            "validation_freq": 2,
            "epochs": 4,
        },
    ),
    _case("validation_data, PyDataset", lambda: {"validation_data": Batches()}),
)
