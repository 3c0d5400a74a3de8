"""Steps of the user's own that take a sum over their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import ops

import tfdist
from tests.conformance import small
from tests.conformance.case import Case
from tests.conformance.cases_custom import OwnStep, fit_only
from tests.conformance.record import Record


class WithOwnSum(OwnStep):
    """Takes the sum over its examples."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            loss = ops.sum(keras.losses.sparse_categorical_crossentropy(y, self(x), True))
        self.take(tape, loss)
        return {"total": loss}


class WithGlobalSum(OwnStep):
    """Takes sums by the helper: one over the examples, one per weight of another."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            distance = keras.losses.sparse_categorical_crossentropy(y, self(x), True)
            mass = ops.cast(y, "float32")
            loss = tfdist.global_sum(ops.sum(distance))
            loss += tfdist.global_sum(ops.sum(distance * mass), per=ops.sum(mass))
        self.take(tape, loss)
        return {"total": loss}


def _slow() -> dict:
    return {"optimizer": small.sgd(0.003), "loss": small.softmax_loss()}


def _a_fraction(record: Record, reference: Record, replicas: int) -> list[str]:
    """The sum that is logged is that of one device divided by the number of replicas."""
    factor = record.logs["total"][-1] / reference.logs["total"][-1]
    return (
        [] if abs(factor * replicas - 1) < 1e-3 else [f"the total is {factor} x that of one device"]
    )


def _hardly_learning() -> dict:
    return {"optimizer": small.sgd(1e-7), "loss": small.softmax_loss()}


def _even() -> dict:
    x, y = small.blobs()
    return {"x": x[:96], "y": y[:96], "batch_size": small.BATCH}


def _case(name: str, build: Callable[[], keras.Model], **more: Any) -> Case:
    filled = {"compiled": _slow, "data": small.classes, "held": small.classes} | more
    return Case(name, "custom steps", build, play=fit_only, **filled)


CASES = (
    _case(
        "train_step with a sum of its own",
        WithOwnSum,
        compiled=_hardly_learning,
        data=_even,
        by_design="a sum over the own rows counts as a mean: tfdist.verify finds that, and "
        "tfdist.global_sum mends it",
        expect=_a_fraction,
    ),
    _case("train_step with tfdist.global_sum", WithGlobalSum),
)
