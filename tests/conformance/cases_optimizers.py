"""Optimizers, schedules, averages, clipping and accumulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import optimizers

from tests.conformance import small
from tests.conformance.case import THREE, Case


def _case(
    name: str, optimizer: Callable[[], keras.Optimizer], fit: Callable[[], dict] = dict, **more: Any
) -> Case:
    def compiled() -> dict:
        return {"optimizer": optimizer(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}

    return Case(name, "optimizers", small.mlp, compiled, small.classes, small.classes, fit, **more)


def _plain(name: str, kind: Callable, *args: Any, **kwargs: Any) -> Case:
    return _case(name, lambda: kind(*args, **kwargs))


def _plateau() -> dict:
    # An improvement of 10 is never seen, so that the rate falls after every epoch.
    callback = keras.callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=10.0)
    return {"callbacks": [callback], "epochs": 5}


def _accumulating(**kwargs: Any) -> keras.Optimizer:
    return optimizers.Adam(0.02, gradient_accumulation_steps=4, **kwargs)


def _scaled_and_accumulating() -> keras.Optimizer:
    return optimizers.LossScaleOptimizer(_accumulating(), initial_scale=8.0, dynamic_growth_steps=3)


CASES = (
    _plain("SGD", optimizers.SGD, 0.1),
    _plain("SGD with momentum", optimizers.SGD, 0.05, momentum=0.9),
    _plain("SGD with Nesterov momentum", optimizers.SGD, 0.05, momentum=0.9, nesterov=True),
    _case("Adam", lambda: optimizers.Adam(0.02), strategies=THREE),
    _plain("Adam with amsgrad", optimizers.Adam, 0.02, amsgrad=True),
    _plain("AdamW", optimizers.AdamW, 0.02, weight_decay=0.05),
    _plain("Nadam", optimizers.Nadam, 0.02),
    _plain("Lion", optimizers.Lion, 0.005),
    _plain("Adagrad", optimizers.Adagrad, 0.1),
    _plain("RMSprop, centered", optimizers.RMSprop, 0.01, momentum=0.5, centered=True),
    _plain("Adafactor", optimizers.Adafactor, 0.05),
    _plain("Lamb", optimizers.Lamb, 0.02),
    _plain("Ftrl", optimizers.Ftrl, 0.1, l1_regularization_strength=0.01),
    _plain("Muon", optimizers.Muon, 0.02),
    _plain("learning-rate schedule", optimizers.SGD, optimizers.schedules.CosineDecay(0.2, 30)),
    _case("ReduceLROnPlateau", lambda: optimizers.SGD(0.2, momentum=0.9), _plateau),
    _plain("weight decay", optimizers.SGD, 0.05, momentum=0.9, weight_decay=0.1),
    _plain("EMA", optimizers.Adam, 0.02, use_ema=True, ema_momentum=0.9),
    _plain(
        "EMA overwriting the weights",
        optimizers.Adam,
        0.02,
        use_ema=True,
        ema_momentum=0.9,
        ema_overwrite_frequency=5,
    ),
    _plain("clipnorm", optimizers.SGD, 0.5, clipnorm=0.05),
    _case("global_clipnorm", lambda: optimizers.SGD(0.5, global_clipnorm=0.1), strategies=THREE),
    _plain("clipvalue", optimizers.SGD, 0.5, clipvalue=0.02),
    _case("gradient accumulation, last group not full", _accumulating),
    _case("gradient accumulation with clipnorm", lambda: _accumulating(clipnorm=0.05)),
    _case(
        "gradient accumulation with global_clipnorm", lambda: _accumulating(global_clipnorm=0.05)
    ),
    _case("gradient accumulation with clipvalue", lambda: _accumulating(clipvalue=0.02)),
    _case("gradient accumulation with EMA", lambda: _accumulating(use_ema=True, ema_momentum=0.9)),
    _case(
        "gradient accumulation with EMA overwriting",
        lambda: _accumulating(use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=2),
    ),
    _case("gradient accumulation with loss scaling", _scaled_and_accumulating),
)
