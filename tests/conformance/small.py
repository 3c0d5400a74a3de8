"""The small models and data that most cases share."""

from __future__ import annotations

import functools
from typing import Any

import keras
import numpy as np
from keras import layers

EXAMPLES = 97  # in batches of 16: six whole ones and one of a single example, for two replicas
BATCH = 16
FEATURES = 6
CLASSES = 3


@functools.cache
def blobs() -> tuple[np.ndarray, np.ndarray]:
    """Examples of CLASSES overlapping classes."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, CLASSES, EXAMPLES)
    centres = rng.normal(size=(CLASSES, FEATURES))
    return (centres[y] + rng.normal(size=(EXAMPLES, FEATURES))).astype("float32"), y


@functools.cache
def weights() -> np.ndarray:
    """A weight for each example, some 0, of very unequal sums from part to part."""
    rng = np.random.default_rng(8)
    return (rng.integers(0, 4, EXAMPLES) * rng.uniform(0.1, 2, EXAMPLES)).astype("float32")


def classes() -> dict:
    """The blobs as arguments of fit and evaluate."""
    x, y = blobs()
    return {"x": x, "y": y, "batch_size": BATCH}


def weighted_classes() -> dict:
    """The same with a weight for each example."""
    return classes() | {"sample_weight": weights()}


def binary() -> dict:
    """Whether a blob is of class 0."""
    x, y = blobs()
    return {"x": x, "y": (y == 0).astype("float32")[:, None], "batch_size": BATCH}


def numbers() -> dict:
    """Two numbers to be found for each example."""
    x, _ = blobs()
    y = np.stack([x[:, 0] * x[:, 1], np.sin(x[:, 2]) + x[:, 3]], 1)
    return {"x": x, "y": y, "batch_size": BATCH}


def mlp(units: int = CLASSES, activation: str | None = None) -> keras.Model:
    """Two dense layers."""
    return keras.Sequential(
        [
            layers.Input((FEATURES,)),
            layers.Dense(8, "tanh"),
            layers.Dense(units, activation),
        ]
    )


def softmax_loss(**kwargs: Any) -> keras.losses.Loss:
    """Cross-entropy of logits."""
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True, **kwargs)


def sgd(rate: float = 0.05) -> keras.optimizers.Optimizer:
    """The optimizer of cases that are about something else: momentum, no small denominators."""
    return keras.optimizers.SGD(rate, momentum=0.9)
