"""Losses of one output: reductions, weights, penalties, functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import layers, losses, ops

from tests.conformance import small
from tests.conformance.case import ALL, Case


def loss_case(
    name: str,
    loss: Callable[[], Any],
    build: Callable[[], keras.Model] = small.mlp,
    data: Callable[[], dict] = small.classes,
    fit: Callable[[], dict] = dict,
    strategies: tuple[str, ...] = ALL,
    rate: float = 0.05,
    **compiled: Any,
) -> Case:
    """A case whose model is compiled with this loss."""

    def arguments() -> dict:
        return {"optimizer": small.sgd(rate), "loss": loss()} | compiled

    return Case(
        name,
        "losses",
        build,
        arguments,
        data,
        _without_class_weight(data),
        fit,
        strategies=strategies,
    )


def _without_class_weight(data: Callable[[], dict]) -> Callable[[], dict]:
    return lambda: {k: v for k, v in data().items() if k != "class_weight"}


def _reduction(reduction: str | None, data: Callable[[], dict]) -> Case:
    kind = "weighted" if data is small.weighted_classes else "unweighted"
    # A sum is as large as the batch: the rate is smaller, so that training is stable.
    rate = 0.05 if reduction and reduction.startswith(("sum_", "mean")) else 0.003
    return loss_case(
        f"reduction {reduction}, {kind}",
        lambda: small.softmax_loss(reduction=reduction),
        data=data,
        rate=rate,
    )


def _class_weighted() -> dict:
    return small.classes() | {"class_weight": {0: 0.3, 1: 2.0, 2: 1.0}}


@keras.saving.register_keras_serializable("conformance")
class Penalty(layers.Layer):
    """Adds the mean activity of its examples to the loss, and passes them on."""

    def call(self, x: Any) -> Any:
        self.add_loss(0.1 * ops.mean(ops.square(x)))
        return x


def _penalized() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((small.FEATURES,)),
            layers.Dense(8, "tanh"),
            Penalty(),
            layers.Dense(small.CLASSES),
        ]
    )


def _regularized() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((small.FEATURES,)),
            layers.Dense(8, "tanh", kernel_regularizer="l2", activity_regularizer="l1"),
            layers.Dense(small.CLASSES, bias_regularizer=keras.regularizers.L2(0.1)),
        ]
    )


def _per_example(y: Any, y_pred: Any) -> Any:
    return ops.sum(ops.square(y_pred - y), -1) + ops.abs(y[:, 0])


def _scalar(y: Any, y_pred: Any) -> Any:
    return ops.mean(ops.square(y_pred - y))


class OwnLoss(losses.Loss):
    """A loss that is one number for each element of the output."""

    def call(self, y_true: Any, y_pred: Any) -> Any:
        return ops.log(1 + ops.square(y_pred - ops.cast(y_true, y_pred.dtype)))


@keras.saving.register_keras_serializable("conformance")
class WithComputeLoss(keras.Model):
    """Overrides compute_loss: adds a penalty on what was predicted."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(8, "tanh")
        self.out = layers.Dense(small.CLASSES)
        self.penalty = keras.metrics.Mean("penalty")

    def call(self, x: Any) -> Any:
        return self.out(self.hidden(x))

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Any:
        loss = super().compute_loss(x, y, y_pred, sample_weight, training)
        penalty = ops.mean(ops.square(y_pred))
        self.penalty.update_state(ops.mean(ops.square(y_pred), -1))
        return loss + 0.1 * penalty


CASES = (
    *(
        _reduction(reduction, data)
        for reduction in ("sum_over_batch_size", "mean_with_sample_weight", "sum", None)
        for data in (small.classes, small.weighted_classes)
    ),
    loss_case(
        "reduction mean, weighted",
        lambda: small.softmax_loss(reduction="mean"),
        data=small.weighted_classes,
    ),
    loss_case(
        "class_weight", small.softmax_loss, data=_class_weighted, weighted_metrics=["accuracy"]
    ),
    loss_case("add_loss", small.softmax_loss, _penalized, metrics=["accuracy"]),
    loss_case(
        "add_loss with reduction sum",
        lambda: small.softmax_loss(reduction="sum"),
        _penalized,
        rate=0.003,
    ),
    loss_case("regularizers", small.softmax_loss, _regularized),
    loss_case(
        "custom loss function, one number per example",
        lambda: _per_example,
        lambda: small.mlp(2),
        small.numbers,
    ),
    loss_case(
        "custom loss function, one number", lambda: _scalar, lambda: small.mlp(2), small.numbers
    ),
    loss_case("custom loss class", OwnLoss, lambda: small.mlp(2), small.numbers),
    loss_case("compute_loss overridden", small.softmax_loss, WithComputeLoss, metrics=["accuracy"]),
)
