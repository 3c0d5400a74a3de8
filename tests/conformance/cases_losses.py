"""Losses: reductions, weights, masks, penalties and functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import layers, losses, ops

from tests.conformance import small
from tests.conformance.case import ALL, THREE, Case


def _case(
    name: str,
    loss: Callable[[], Any],
    build: Callable[[], keras.Model] = small.mlp,
    data: Callable[[], dict] = small.classes,
    fit: Callable[[], dict] = dict,
    strategies: tuple[str, ...] = ALL,
    rate: float = 0.05,
    **compiled: Any,
) -> Case:
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
    return _case(
        f"reduction {reduction}, {kind}",
        lambda: small.softmax_loss(reduction=reduction),
        data=data,
        rate=rate,
    )


def _class_weighted() -> dict:
    return small.classes() | {"class_weight": {0: 0.3, 1: 2.0, 2: 1.0}}


def _with_ignored() -> dict:
    data = small.classes()
    y = data["y"].copy()
    y[::3] = -1
    y[32:41] = -1  # nothing is left of one replica's part of the third batch
    return data | {"y": y}


def _two_outputs() -> keras.Model:
    x = layers.Input((small.FEATURES,))
    h = layers.Dense(8, "tanh")(x)
    return keras.Model(
        x,
        {
            "kind": layers.Dense(small.CLASSES, name="kind")(h),
            "size": layers.Dense(2, name="size")(h),
        },
    )


def _two_targets() -> dict:
    return small.classes() | {"y": {"kind": small.classes()["y"], "size": small.numbers()["y"]}}


def _two_targets_weighted() -> dict:
    weights = small.weights()
    return _two_targets() | {"sample_weight": {"kind": weights, "size": weights[::-1].copy()}}


def _two_losses(first: str = "sum_over_batch_size", second: str = "sum_over_batch_size") -> dict:
    return {"kind": small.softmax_loss(reduction=first), "size": losses.Huber(reduction=second)}


def sequences() -> np.ndarray:
    """Words with zeros behind each sentence, of 1 to 5 words; one replica's parts are shorter."""
    rng = np.random.default_rng(5)
    words = rng.integers(1, 12, (small.EXAMPLES, 5))
    lengths = np.where(np.arange(small.EXAMPLES) % 16 < 8, 1, rng.integers(1, 6, small.EXAMPLES))
    return np.where(np.arange(5) < lengths[:, None], words, 0)


def _tagged() -> dict:
    words = sequences()
    return {"x": words, "y": words % small.CLASSES, "batch_size": small.BATCH}


def _tagged_weighted() -> dict:
    return _tagged() | {"sample_weight": np.outer(small.weights(), [1, 1, 2, 3, 4])}


def _tagger() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((5,)),
            layers.Embedding(12, 4, mask_zero=True),
            layers.Dense(small.CLASSES),
        ]
    )


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
    _case(
        "reduction mean, weighted",
        lambda: small.softmax_loss(reduction="mean"),
        data=small.weighted_classes,
    ),
    _case("class_weight", small.softmax_loss, data=_class_weighted, weighted_metrics=["accuracy"]),
    _case(
        "several outputs",
        _two_losses,
        _two_outputs,
        _two_targets,
        metrics={"kind": "accuracy", "size": "mae"},
    ),
    _case(
        "several outputs, loss_weights, sample weights and reductions",
        lambda: _two_losses("mean_with_sample_weight", "sum"),
        _two_outputs,
        _two_targets_weighted,
        loss_weights={"kind": 0.7, "size": 0.02},
    ),
    _case(
        "several outputs, weights for one of them",
        _two_losses,
        _two_outputs,
        lambda: _two_targets() | {"sample_weight": {"kind": small.weights(), "size": None}},
    ),
    _case(
        "several outputs, one without a loss",
        lambda: {"kind": small.softmax_loss(), "size": None},
        _two_outputs,
        _two_targets,
        metrics={"kind": "accuracy", "size": "mae"},
    ),
    _case("ignore_class", lambda: small.softmax_loss(ignore_class=-1), data=_with_ignored),
    _case(
        "ignore_class, mean_with_sample_weight",
        lambda: small.softmax_loss(ignore_class=-1, reduction="mean_with_sample_weight"),
        data=_with_ignored,
    ),
    _case("masked sequences", small.softmax_loss, _tagger, _tagged, metrics=["accuracy"]),
    _case("masked sequences, weighted", small.softmax_loss, _tagger, _tagged_weighted),
    _case(
        "masked sequences, mean_with_sample_weight",
        lambda: small.softmax_loss(reduction="mean_with_sample_weight"),
        _tagger,
        _tagged_weighted,
        strategies=THREE,
    ),
    _case("add_loss", small.softmax_loss, _penalized, metrics=["accuracy"]),
    _case(
        "add_loss with reduction sum",
        lambda: small.softmax_loss(reduction="sum"),
        _penalized,
        rate=0.003,
    ),
    _case("regularizers", small.softmax_loss, _regularized),
    _case(
        "custom loss function, one number per example",
        lambda: _per_example,
        lambda: small.mlp(2),
        small.numbers,
    ),
    _case("custom loss function, one number", lambda: _scalar, lambda: small.mlp(2), small.numbers),
    _case("custom loss class", OwnLoss, lambda: small.mlp(2), small.numbers),
    _case("compute_loss overridden", small.softmax_loss, WithComputeLoss, metrics=["accuracy"]),
)
