"""Validation while training, in each form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tests.conformance import small
from tests.conformance.case import Case
from tests.conformance.cases_inputs import Batches


def _compiled() -> dict:
    return {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}


def _case(name: str, fit: Callable[[], dict]) -> Case:
    return Case(name, "inputs", small.mlp, _compiled, small.classes, small.classes, fit)


def _some(count: int) -> tuple[Any, Any]:
    x, y = small.blobs()
    return x[:count], y[:count]


CASES = (
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
