"""Several workers of parameter servers: in no order, but nothing lost and nothing twice."""

from __future__ import annotations

from typing import Any

import keras
from keras import layers, ops

from tests.conformance import small
from tests.conformance.case import WEIGHTS, Case
from tests.conformance.cases_sources import Total, each_once, numbered
from tests.conformance.compare import compare
from tests.conformance.record import Record


def _line() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((small.FEATURES,)),
            layers.Dense(1, use_bias=False, kernel_initializer="ones"),
        ]
    )


def _height(y: Any, y_pred: Any) -> Any:
    """A loss whose gradient is that of the batch alone: the order of updates does not matter."""
    return ops.mean(y_pred)


def _nothing_lost(record: Record, reference: Record, replicas: int) -> list[str]:
    difference = compare(reference, record)
    wrong = [*difference.unlike, *each_once(record, reference, replicas)]
    if difference.weights > WEIGHTS:
        wrong.append(f"{difference.weights_at} differs by {difference.weights:.1e}")
    return wrong


CASES = (
    Case(
        "every example counted once, every update applied",
        "asynchronous",
        _line,
        lambda: {"optimizer": keras.optimizers.SGD(0.01), "loss": _height, "metrics": [Total()]},
        numbered,
        numbered,
        lambda: {"epochs": 8},
        by_design="updates come in no order, so that losses are those of other weights",
        expect=_nothing_lost,
        strategies=("parameter_server_2",),
    ),
)
