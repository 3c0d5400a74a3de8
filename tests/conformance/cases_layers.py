"""Layers with state, randomness, masks, sparse gradients or preprocessing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import keras
import numpy as np
from keras import layers, ops

from tests.conformance import small
from tests.conformance.case import THREE, Case, fit_evaluate_predict
from tests.conformance.cases_losses import Penalty
from tests.conformance.cases_outputs import sequences


def _case(
    name: str,
    build: Callable[[], keras.Model],
    data: Callable[[], dict] = small.classes,
    rate: float = 0.05,
    **more: Any,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(rate), "loss": small.softmax_loss(), "metrics": ["accuracy"]}

    return Case(name, "layers", build, compiled, data, data, play=fit_evaluate_predict, **more)


def _around(*middle: Callable[[], layers.Layer]) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        return keras.Sequential(
            [
                layers.Input((small.FEATURES,)),
                layers.Dense(8, "tanh"),
                *(make() for make in middle),
                layers.Dense(small.CLASSES),
            ]
        )

    return build


def _words() -> dict:
    words = sequences()
    return {"x": words, "y": words.sum(1) % small.CLASSES, "batch_size": small.BATCH}


def _recurrent(kind: Callable[..., layers.Layer]) -> Callable[[], keras.Model]:
    def build() -> keras.Model:
        return keras.Sequential(
            [
                layers.Input((5,)),
                layers.Embedding(12, 4, mask_zero=True),
                kind(6),
                layers.Dense(small.CLASSES),
            ]
        )

    return build


def _embedding() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((5,)),
            layers.Embedding(40, 4),
            layers.GlobalAveragePooling1D(),
            layers.Dense(small.CLASSES),
        ]
    )


def _attention() -> keras.Model:
    x = layers.Input((5,))
    h = layers.Embedding(12, 8, mask_zero=True)(x)
    h = layers.LayerNormalization()(h + layers.MultiHeadAttention(2, 4)(h, h, use_causal_mask=True))
    return keras.Model(x, layers.Dense(small.CLASSES)(layers.GlobalAveragePooling1D()(h)))


def _images() -> dict:
    x, y = small.blobs()
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(small.EXAMPLES, 6, 6, 1)).astype("float32")
    return {"x": noise + x[:, :, None, None], "y": y, "batch_size": small.BATCH}


def _convolutional() -> keras.Model:
    return keras.Sequential(
        [
            layers.Input((6, 6, 1)),
            layers.Conv2D(4, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.BatchNormalization(synchronized=True),
            layers.GroupNormalization(2),
            layers.Flatten(),
            layers.Dense(small.CLASSES),
        ]
    )


def _normalizing() -> keras.Model:
    adapted = layers.Normalization()
    adapted.adapt(small.blobs()[0])
    return keras.Sequential(
        [layers.Input((small.FEATURES,)), adapted, layers.Dense(8, "tanh"), layers.Dense(3)]
    )


@keras.saving.register_keras_serializable("conformance")
class Centred(layers.Layer):
    """Keeps a moving mean, a count of its calls and a sum over all examples."""

    def build(self, shape: Any) -> None:
        add = self.add_weight
        self.mean = add(shape=(shape[-1],), initializer="zeros", trainable=False, name="mean")
        self.calls = add(
            shape=(), initializer="zeros", dtype="int64", trainable=False, name="calls"
        )
        self.examples = add(
            shape=(), initializer="zeros", trainable=False, aggregation="sum", name="examples"
        )

    def call(self, x: Any, training: bool = False) -> Any:
        if training:
            self.mean.assign(0.9 * self.mean + 0.1 * ops.mean(x, 0))
            self.calls.assign(self.calls + 1)
            self.examples.assign(self.examples + ops.cast(ops.shape(x)[0], "float32"))
        return x - ops.stop_gradient(self.mean)


def _centred() -> keras.Model:
    # Each call subtracts the mean before this step, so that the part of a replica does not matter.
    return _around(Delayed)()


@keras.saving.register_keras_serializable("conformance")
class Delayed(Centred):
    """Subtracts the mean of the steps before this one."""

    def call(self, x: Any, training: bool = False) -> Any:
        before = ops.stop_gradient(self.mean + 0.0)
        super().call(x, training)
        return x - before


@keras.saving.register_keras_serializable("conformance")
class LocalStatistics(layers.BatchNormalization):
    """BatchNormalization as several replicas compute it, on one device: a part at a time."""

    def __init__(self, replicas: int, **kwargs: Any) -> None:
        super().__init__(name="batch_normalization", **kwargs)
        self.replicas = replicas

    def call(self, inputs: Any, training: bool = False, mask: Any = None) -> Any:
        if not training:
            return super().call(inputs, training=False)
        rows = ops.shape(inputs)[0]
        outputs, means, variances = [], [], []
        for replica in range(self.replicas):
            start, stop = rows * replica // self.replicas, rows * (replica + 1) // self.replicas
            first = ops.minimum(
                start, rows - 1
            )  # an empty part is computed with a row that counts 0
            part = inputs[first : ops.maximum(stop, first + 1)]
            mean, variance = ops.moments(part, [0])
            scale = self.gamma / ops.sqrt(variance + self.epsilon)
            outputs.append(((part - mean) * scale + self.beta)[: stop - start])
            share = ops.cast(stop - start, "float32")
            means.append(mean * share)
            variances.append(variance * share)
        total = ops.cast(rows, "float32")
        for moving, parts in ((self.moving_mean, means), (self.moving_variance, variances)):
            moving.assign(moving * self.momentum + sum(parts) / total * (1 - self.momentum))
        return ops.concatenate(outputs, 0)


def _local_statistics(replicas: int) -> Case:
    build = _around(lambda: LocalStatistics(replicas, momentum=0.9))
    return replace(_BATCH_NORMALIZATION, build=build, reference=None)


_BATCH_NORMALIZATION = _case(
    "BatchNormalization",
    _around(lambda: layers.BatchNormalization(momentum=0.9)),
    by_design="each replica normalizes with the statistics of its part; the moving ones are equal",
    reference=_local_statistics,
    strategies=THREE,
)

CASES = (
    _BATCH_NORMALIZATION,
    _case(
        "BatchNormalization(synchronized=True)",
        _around(lambda: layers.BatchNormalization(momentum=0.9, synchronized=True)),
        strategies=THREE,
    ),
    _case(
        "add_loss with synchronized BatchNormalization",
        _around(Penalty, lambda: layers.BatchNormalization(synchronized=True), Penalty),
    ),
    _case(
        "convolution, pooling, synchronized and group normalization", _convolutional, _images, 0.02
    ),
    _case(
        "LayerNormalization and UnitNormalization",
        _around(layers.LayerNormalization, layers.UnitNormalization),
    ),
    _case("LSTM with masks", _recurrent(layers.LSTM), _words),
    _case("GRU with masks", _recurrent(layers.GRU), _words),
    _case(
        "bidirectional, not unrolled RNN",
        _recurrent(lambda n: layers.Bidirectional(layers.SimpleRNN(n))),
        _words,
    ),
    _case("Embedding", _embedding, _words),
    _case("attention", _attention, _words, 0.02),
    _case(
        "SpectralNormalization",
        _around(lambda: layers.SpectralNormalization(layers.Dense(8, "tanh"))),
    ),
    _case("Normalization.adapt", _normalizing),
    _case("layer with state of its own", _centred),
)
