"""The models that tfdist ships, small images for them, and the verification of each."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.models import build
from tfdist.verification import Report

SIDE, CLASSES, BATCH, STEPS = 8, 10, 16, 4


def images() -> tf.data.Dataset:
    """Global batches of random images."""
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(STEPS * BATCH, SIDE, SIDE, 1)).astype("float32")
    y = rng.integers(0, CLASSES, STEPS * BATCH)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)


def _compile(model: keras.Model) -> None:
    model.compile(
        keras.optimizers.SGD(0.02, momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


def report(name: str, strategy: Any = None) -> Report:
    """Verify a shipped model."""
    return tfdist.verify(
        lambda: build(name, (SIDE, SIDE, 1), CLASSES),
        images(),
        strategy=strategy,
        compile=_compile,
        steps=STEPS,
    )
