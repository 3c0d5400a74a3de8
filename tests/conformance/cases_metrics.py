"""Metrics: Keras' own, weighted ones, and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras import metrics, ops

from tests.conformance import small
from tests.conformance.case import THREE, Case, Limits


def _case(
    name: str,
    made: Callable[[], list],
    build: Callable[[], keras.Model] = small.mlp,
    data: Callable[[], dict] = small.classes,
    loss: Callable[[], Any] = small.softmax_loss,
    kind: str = "metrics",
    **more: Any,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(), "loss": loss(), kind: made()}

    return Case(name, "metrics", build, compiled, data, data, **more)


def _of_two_classes() -> list:
    return [
        "accuracy",
        metrics.BinaryAccuracy("binary"),
        metrics.BinaryCrossentropy("crossentropy"),
        metrics.AUC(name="roc"),
        metrics.AUC(name="pr", curve="PR", num_thresholds=50),
        metrics.Precision(name="precision"),
        metrics.Recall(thresholds=[0.3, 0.7], name="recall"),
        metrics.F1Score(threshold=0.5, name="f1"),
        metrics.TruePositives(name="tp"),
        metrics.FalseNegatives(name="fn"),
        metrics.PrecisionAtRecall(0.5, name="p_at_r"),
        metrics.SensitivityAtSpecificity(0.5, name="s_at_s"),
        metrics.BinaryIoU([0, 1], name="iou"),
    ]


def _of_classes() -> list:
    return [
        "accuracy",
        metrics.SparseCategoricalAccuracy("sparse"),
        metrics.SparseTopKCategoricalAccuracy(2, "top_2"),
        metrics.SparseCategoricalCrossentropy("crossentropy", from_logits=True),
        metrics.MeanIoU(small.CLASSES, sparse_y_pred=False, name="iou"),
    ]


def _one_hot() -> dict:
    data = small.classes()
    return data | {"y": keras.utils.to_categorical(data["y"], small.CLASSES)}


def _of_one_hot() -> list:
    return [
        metrics.CategoricalAccuracy("categorical"),
        metrics.TopKCategoricalAccuracy(2, "top_2"),
        metrics.F1Score("macro", name="f1"),
        metrics.FBetaScore("weighted", beta=2.0, name="fbeta"),
        metrics.OneHotMeanIoU(small.CLASSES, name="iou"),
        metrics.KLDivergence("kl"),
        metrics.CategoricalHinge("hinge"),
        metrics.AUC(multi_label=True, num_labels=small.CLASSES, name="auc"),
    ]


_ROUNDED = Limits(
    metrics=3e-6,
    why="R2 is one minus a quotient: 0.375 here, so that a rounding of 0.625 counts almost twice",
)


def _of_numbers() -> list:
    return [
        "mae",
        metrics.MeanSquaredError("mse"),
        metrics.RootMeanSquaredError("rmse"),
        metrics.R2Score(name="r2"),
        metrics.MeanAbsolutePercentageError("percentage"),
        metrics.MeanSquaredLogarithmicError("logarithmic"),
        metrics.LogCoshError("logcosh"),
        metrics.CosineSimilarity("cosine"),
        metrics.PearsonCorrelation(name="pearson"),
        metrics.ConcordanceCorrelation(name="concordance"),
    ]


@keras.saving.register_keras_serializable("conformance")
class Hits(metrics.Metric):
    """Counts, written as Keras documents it: with assign(old + increment) and assign_add."""

    def __init__(self, name: str = "hits", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.hits = self.add_variable((), "zeros", name="hits")
        self.seen = self.add_variable((small.CLASSES,), "zeros", name="seen")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        label = ops.cast(ops.reshape(y_true, (-1,)), "int32")
        right = ops.cast(ops.equal(label, ops.cast(ops.argmax(y_pred, -1), "int32")), "float32")
        self.hits.assign(self.hits + ops.sum(right))
        self.seen.assign_add(ops.sum(ops.one_hot(label, small.CLASSES), 0))

    def result(self) -> Any:
        return {"hits": self.hits, "share": ops.sum(self.hits / ops.sum(self.seen))}


def _margin(y_true: Any, y_pred: Any) -> Any:
    """A number for each example."""
    return ops.max(y_pred, -1) - ops.min(y_pred, -1)


def _mean_margin(y_true: Any, y_pred: Any) -> Any:
    """A number for the batch."""
    return ops.mean(ops.max(y_pred, -1))


def _own() -> list:
    return [
        Hits(),
        _margin,
        _mean_margin,
        metrics.MeanMetricWrapper(_margin, name="wrapped"),
    ]


class Largest(metrics.Metric):
    """The largest label seen; its state does not add up."""

    def __init__(self, aggregation: str, name: str) -> None:
        super().__init__(name=name)
        self.value = self.add_variable((), "zeros", aggregation=aggregation, name="value")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.value.assign(ops.maximum(self.value, ops.cast(ops.max(y_true), "float32")))

    def result(self) -> Any:
        return self.value


def _growing() -> dict:
    """Even batches whose largest label is in the last replica's part."""
    x, _ = small.blobs()
    y = np.arange(96, dtype="float32")[:, None]
    return {"x": x[:96], "y": y, "batch_size": small.BATCH}


@keras.saving.register_keras_serializable("conformance")
class Measured(keras.layers.Layer):
    """Keeps a metric of what passes through it."""

    def __init__(self) -> None:
        super().__init__()
        self.size = metrics.Mean("size")

    def call(self, x: Any) -> Any:
        self.size.update_state(ops.mean(ops.abs(x), -1))
        return x


def _measured() -> keras.Model:
    model = small.mlp()
    return keras.Sequential([keras.layers.Input((small.FEATURES,)), model, Measured()])


CASES = (
    _case(
        "metrics of two classes",
        _of_two_classes,
        lambda: small.mlp(1, "sigmoid"),
        small.binary,
        lambda: "binary_crossentropy",
        strategies=THREE,
    ),
    _case("metrics of classes", _of_classes),
    _case(
        "metrics of one-hot classes",
        _of_one_hot,
        lambda: small.mlp(small.CLASSES, "softmax"),
        _one_hot,
        lambda: "categorical_crossentropy",
    ),
    _case(
        "metrics of numbers",
        _of_numbers,
        lambda: small.mlp(2),
        small.numbers,
        lambda: "mse",
        limits=_ROUNDED,
    ),
    _case("weighted metrics", _of_classes, data=small.weighted_classes, kind="weighted_metrics"),
    _case(
        "weighted metrics of numbers",
        _of_numbers,
        lambda: small.mlp(2),
        lambda: small.numbers() | {"sample_weight": small.weights()},
        lambda: "mse",
        kind="weighted_metrics",
        limits=_ROUNDED,
    ),
    _case("custom metrics and functions", _own, strategies=THREE),
    _case(
        "metrics that do not add up (maxima)",
        lambda: [Largest("sum", "one"), Largest("only_first_replica", "other")],
        lambda: small.mlp(1),
        _growing,
        keras.losses.Huber,
        fit=lambda: {"epochs": 4},
    ),
    _case("metric kept by a layer", lambda: ["accuracy"], _measured),
)
