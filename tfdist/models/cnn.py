"""A plain convolutional network: blocks of one convolution and one pooling, then a dense layer."""

from __future__ import annotations

import math

import keras
from keras import layers

from tfdist.models.shapes import refuse_other_than_image

_FILTERS = (32, 64, 128)  # Of the first, the second and every further block.
_MIN_BLOCKS = 2
_LAST_SIDE = 8  # Pooling goes on until the image is no larger: that bounds the dense layer.
_HIDDEN_UNITS = 128


def build(input_shape: tuple[int, int, int], num_classes: int) -> keras.Model:
    """Build it for images of any size; it gives logits."""
    refuse_other_than_image("cnn", input_shape)
    halvings = math.ceil(math.log2(max(input_shape[:2]) / _LAST_SIDE))
    stack: list[keras.layers.Layer] = []
    for block in range(max(_MIN_BLOCKS, halvings)):
        filters = _FILTERS[min(block, len(_FILTERS) - 1)]
        stack.append(layers.Conv2D(filters, 3, padding="same", activation="relu"))
        stack.append(layers.MaxPooling2D(2, padding="same"))
    head = [
        layers.Flatten(),
        layers.Dense(_HIDDEN_UNITS, activation="relu"),
        layers.Dense(num_classes, name="logits"),
    ]
    return keras.Sequential([keras.Input(input_shape), *stack, *head], name="cnn")
