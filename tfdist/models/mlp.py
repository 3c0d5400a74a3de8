"""A perceptron with two hidden layers, for examples of any shape."""

from __future__ import annotations

import keras

from tfdist.models.shapes import refuse_unknown_size

_HIDDEN_UNITS = (256, 128)


def build(input_shape: tuple[int, ...], num_classes: int) -> keras.Model:
    """Build it; it gives logits."""
    refuse_unknown_size("mlp", input_shape)
    return keras.Sequential(
        [
            keras.Input(input_shape),
            keras.layers.Flatten(),
            *(keras.layers.Dense(units, activation="relu") for units in _HIDDEN_UNITS),
            keras.layers.Dense(num_classes, name="logits"),
        ],
        name="mlp",
    )
