"""Losses of several outputs, of masked sequences, and without some class."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, losses

from tests.conformance import small
from tests.conformance.case import THREE
from tests.conformance.cases_losses import loss_case


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


CASES = (
    loss_case(
        "several outputs",
        _two_losses,
        _two_outputs,
        _two_targets,
        metrics={"kind": "accuracy", "size": "mae"},
    ),
    loss_case(
        "several outputs, loss_weights, sample weights and reductions",
        lambda: _two_losses("mean_with_sample_weight", "sum"),
        _two_outputs,
        _two_targets_weighted,
        loss_weights={"kind": 0.7, "size": 0.02},
    ),
    loss_case(
        "several outputs, weights for one of them",
        _two_losses,
        _two_outputs,
        lambda: _two_targets() | {"sample_weight": {"kind": small.weights(), "size": None}},
    ),
    loss_case(
        "several outputs, one without a loss",
        lambda: {"kind": small.softmax_loss(), "size": None},
        _two_outputs,
        _two_targets,
        metrics={"kind": "accuracy", "size": "mae"},
    ),
    loss_case("ignore_class", lambda: small.softmax_loss(ignore_class=-1), data=_with_ignored),
    loss_case(
        "ignore_class, mean_with_sample_weight",
        lambda: small.softmax_loss(ignore_class=-1, reduction="mean_with_sample_weight"),
        data=_with_ignored,
    ),
    loss_case("masked sequences", small.softmax_loss, _tagger, _tagged, metrics=["accuracy"]),
    loss_case("masked sequences, weighted", small.softmax_loss, _tagger, _tagged_weighted),
    loss_case(
        "masked sequences, mean_with_sample_weight",
        lambda: small.softmax_loss(reduction="mean_with_sample_weight"),
        _tagger,
        _tagged_weighted,
        strategies=THREE,
    ),
)
