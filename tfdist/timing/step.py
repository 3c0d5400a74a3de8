"""How long a step takes, and what it does meanwhile."""

from __future__ import annotations

import time
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.models import build
from tfdist.training.between import BetweenCalls

_SHAPE, _CLASSES = (28, 28, 1), 10
_BATCHES = 20
_WARM_STEPS = 40
_NEVER = 1 << 30


class _Input(BetweenCalls):
    """Notes for how long steps waited for their batches."""

    seconds = 0.0

    def on_train_begin(self, logs: Any = None) -> None:
        self._before = self.engine.input_seconds or 0.0

    def on_train_end(self, logs: Any = None) -> None:
        self.seconds = (self.engine.input_seconds or 0.0) - self._before


def scaling(strategy: tf.distribute.Strategy, given: dict[str, Any]) -> dict[str, float | None]:
    """Return examples a second, and the shares of a step in input, computing and exchange.

    What the exchange takes is what a step takes more than one in which workers train apart. Other
    strategies than multi_worker cannot: there it is part of computing, and `exchange` is None.
    """
    data = _data(given["global_batch_size"])
    whole, waited = _timed(_model(given["model"], strategy), data, given["seconds"])
    apart = whole
    in_step = _in_step()
    if in_step:
        apart, _ = _timed(_model(given["model"], strategy, _NEVER), data, given["seconds"])
    exchange = max(0.0, 1 - apart / whole)
    share = min(waited / whole, 1 - exchange)
    return {
        "ms_per_step": whole * 1e3,
        "examples_per_second": given["global_batch_size"] / whole,
        "input": share,
        "exchange": exchange if in_step or given["tasks"] == 1 else None,
        "computing": 1 - share - exchange,
    }


def beside_keras(strategy: tf.distribute.Strategy, given: dict[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a step by tfdist's loop and by Keras' own `fit`."""
    data = _data(given["global_batch_size"])
    ours, _ = _timed(_model(given["model"], strategy), data, given["seconds"])
    plain = _compiled(given["model"])
    keras_own, _ = _timed(plain, data, given["seconds"])
    return {"tfdist": ours * 1e3, "keras": keras_own * 1e3}


def _timed(model: keras.Model, data: Any, seconds: float) -> tuple[float, float]:
    """Return the seconds of a step, and those in which it waited for input."""
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=_WARM_STEPS, verbose=0)
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=_WARM_STEPS, verbose=0)
    guess = (time.perf_counter() - begin) / _WARM_STEPS
    steps = _agreed(max(_WARM_STEPS, min(int(seconds / guess), 20_000)))
    watch = _Input()
    ours = hasattr(model.fit, "args")
    begin = time.perf_counter()
    model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=[watch] if ours else [])
    return (time.perf_counter() - begin) / steps, watch.seconds / steps


def _agreed(steps: int) -> int:
    """Return the chief's number of steps."""
    channel = tfdist.factory.current().channel
    if channel is None or not _in_step():
        return steps
    return channel.gather("steps to be timed", steps)[0]


def _in_step() -> bool:
    """Return whether several tasks run this script: those of parameter servers only serve."""
    return tfdist.factory.current().choice.name == "multi_worker"


def _model(name: str, strategy: tf.distribute.Strategy, period: int | None = None) -> keras.Model:
    with strategy.scope():
        return tfdist.distribute(_compiled(name), sync_period=period)


def _compiled(name: str) -> keras.Model:
    model = build(name, _SHAPE, _CLASSES, seed=0)
    model.compile(
        keras.optimizers.SGD(0.01),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def _data(size: int) -> tf.data.Dataset:
    """Return batches without end, in memory."""
    x = np.random.default_rng(0).normal(size=(_BATCHES, size, *_SHAPE)).astype("float32")
    y = np.arange(_BATCHES * size).reshape(_BATCHES, size) % _CLASSES
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().prefetch(2)
