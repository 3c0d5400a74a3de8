"""The work that all are measured on: synthetic 28x28x1 images in memory, 10 classes, SGD."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np

IMAGE = (28, 28, 1)
CLASSES = 10
LEARNING_RATE = 0.01
BATCHES = 50  # global batches held in memory, read again and again


def warm_up(steps: int) -> int:
    """Return the steps before those that are timed."""
    return max(steps // 2, 40)


def peak_mb() -> float:
    """Return the most memory that this process ever held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def images(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return so many images and their classes."""
    x = np.random.default_rng(0).normal(size=(count, *IMAGE)).astype("float32")
    return x, np.arange(count) % CLASSES


def keras_model(keras: Any, name: str) -> Any:
    """Return a compiled model of this Keras: mlp (overhead), cnn (compute), wide (communication).

    They have 25,450, 225,034 and 10,041,354 parameters.
    """
    layers = keras.layers
    body = {
        "mlp": [layers.Flatten(), layers.Dense(32, activation="relu")],
        "cnn": [
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
        ],
        "wide": [
            layers.Flatten(),
            layers.Dense(2048, activation="relu"),
            layers.Dense(4096, activation="relu"),
        ],
    }[name]
    model = keras.Sequential([layers.Input(IMAGE), *body, layers.Dense(CLASSES)])
    model.compile(
        optimizer=keras.optimizers.SGD(LEARNING_RATE),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def keras_data(tf: Any, batch_size: int) -> Any:
    """Return batches without end, cut once, as the loop in PyTorch slices them."""
    x, y = images(batch_size * BATCHES)
    batches = x.reshape(BATCHES, batch_size, *IMAGE), y.reshape(BATCHES, batch_size)
    return tf.data.Dataset.from_tensor_slices(batches).repeat().prefetch(2)
