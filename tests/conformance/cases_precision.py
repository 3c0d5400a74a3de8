"""Mixed precision, with and without loss scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import layers, optimizers

from tests.conformance import small
from tests.conformance.case import Case, Limits

_BFLOAT16 = Limits(2**-7, 2**-7, "a step of bfloat16 is 2**-7; each replica rounds sums of its own")
_FLOAT16 = Limits(
    2**-10, 2**-10, "a step of float16 is 2**-10; each replica rounds sums of its own"
)


def _with_policy(policy: str) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        keras.config.set_dtype_policy(policy)
        return keras.Sequential(
            [
                layers.Input((small.FEATURES,)),
                layers.Dense(8, "relu"),
                layers.Dense(small.CLASSES),
            ]
        )

    return build


def _case(
    name: str,
    policy: str,
    limits: Limits,
    data: Callable[[], dict] = small.classes,
    optimizer: Callable[[], keras.Optimizer] = small.sgd,
    **more: Any,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": optimizer(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}

    return Case(
        name,
        "precision",
        _with_policy(policy),
        compiled,
        data,
        small.classes,
        limits=limits,
        **more,
    )


def _overflowing() -> dict:
    """One example whose scaled gradient float16 cannot hold, in one replica's part."""
    data = small.classes()
    x = data["x"].copy()
    x[35] *= 200
    return data | {"x": x}


def _plain() -> keras.Optimizer:
    return optimizers.SGD(0.05)  # a velocity kept in bfloat16 would be little but rounding


def _scaled() -> keras.Optimizer:
    return optimizers.LossScaleOptimizer(small.sgd(), 2.0**15, dynamic_growth_steps=4)


def _clipped() -> keras.Optimizer:
    return optimizers.SGD(0.05, momentum=0.9, global_clipnorm=0.1)


CASES = (
    _case("float32", "float32", Limits()),
    _case("bfloat16", "bfloat16", _BFLOAT16, optimizer=_plain),
    _case("mixed_bfloat16", "mixed_bfloat16", _BFLOAT16),
    _case("mixed_float16 with loss scaling", "mixed_float16", _FLOAT16),
    _case("mixed_float16, clipped", "mixed_float16", _FLOAT16, optimizer=_clipped),
    _case(
        "mixed_float16, overflow in one replica", "mixed_float16", _FLOAT16, _overflowing, _scaled
    ),
    _case("loss scaling in float32", "float32", Limits(), optimizer=_scaled),
)
