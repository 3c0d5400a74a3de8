"""Keras' random numbers, replaced for a while by constants that are the same in every row."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from tfdist.training import internals
from tfdist.training.internals import keras_random as random

_active = False  # for the process: replicas compute in threads of their own


@contextlib.contextmanager
def without_chance(wanted: bool) -> Iterator[None]:
    """Let layers draw constants: dropout drops nothing, noise is its mean, a shuffle none.

    Only draws from a SeedGenerator or without a seed: initializers, which draw from numbers, go on.
    """
    global _active
    for name, constant in _CONSTANTS.items():
        internals.intercept(random, name, _is_active, _instead(constant))
    before, _active = _active, wanted
    try:
        yield
    finally:
        _active = before


def _is_active() -> bool | None:
    return _active or None


def _instead(constant: Callable[..., tf.Tensor]) -> Callable:
    def draw(active: bool, original: Callable, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(original).bind(*args, **kwargs)
        given.apply_defaults()
        if isinstance(given.arguments.pop("seed"), int):
            return original(*args, **kwargs)
        return constant(**given.arguments)

    return draw


def _fill(shape: Any, value: Any, dtype: Any) -> tf.Tensor:
    return tf.broadcast_to(tf.cast(value, dtype or random.floatx()), shape)


def _mean(shape: Any, mean: Any, stddev: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, mean, dtype)


def _middle(shape: Any, minval: Any, maxval: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, (minval + maxval) / 2, dtype)


def _least(shape: Any, minval: Any, maxval: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, minval, dtype)


def _nothing_dropped(inputs: Any, rate: Any, noise_shape: Any) -> Any:
    return inputs


def _likeliest(logits: Any, num_samples: int, dtype: Any) -> tf.Tensor:
    return tf.repeat(tf.argmax(logits, -1, dtype)[:, None], num_samples, 1)


def _unchanged(x: Any, axis: int) -> Any:
    return x


def _gamma(shape: Any, alpha: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, alpha, dtype)


def _binomial(shape: Any, counts: Any, probabilities: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, tf.round(tf.cast(counts, "float32") * probabilities), dtype)


def _beta(shape: Any, alpha: Any, beta: Any, dtype: Any) -> tf.Tensor:
    return _fill(shape, alpha / (alpha + beta), dtype)


_CONSTANTS: dict[str, Callable[..., Any]] = {
    "normal": _mean,
    "truncated_normal": _mean,
    "uniform": _middle,
    "randint": _least,
    "dropout": _nothing_dropped,
    "categorical": _likeliest,
    "shuffle": _unchanged,
    "gamma": _gamma,
    "binomial": _binomial,
    "beta": _beta,
}
