"""A small residual network for images of about 8x8 to 64x64.

K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for Image Recognition", CVPR 2016,
section 4.2: three stages of 16, 32 and 64 filters, here with one block each (8 layers).
"""

from __future__ import annotations

from typing import Any

import keras
from keras import layers

from tfdist.models.shapes import refuse_other_than_image

_STAGE_FILTERS = (16, 32, 64)
_BLOCKS_PER_STAGE = 1
_MOMENTUM = 0.9  # Keras' 0.99 lags behind in runs of a few hundred steps.


def build(input_shape: tuple[int, int, int], num_classes: int) -> keras.Model:
    """Build it; it gives logits."""
    refuse_other_than_image("resnet", input_shape)
    inputs = keras.Input(input_shape)
    x = _normalized(_convolution(inputs, _STAGE_FILTERS[0], strides=1))
    x = layers.ReLU()(x)
    for stage, filters in enumerate(_STAGE_FILTERS):
        for block in range(_BLOCKS_PER_STAGE):
            x = _residual(x, filters, strides=2 if stage > 0 and block == 0 else 1)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, layers.Dense(num_classes, name="logits")(x), name="resnet")


def _residual(x: Any, filters: int, strides: int) -> Any:
    y = layers.ReLU()(_normalized(_convolution(x, filters, strides)))
    y = _normalized(_convolution(y, filters, strides=1))
    if strides != 1 or x.shape[-1] != filters:
        x = _normalized(_convolution(x, filters, strides, kernel_size=1))
    return layers.ReLU()(layers.Add()([x, y]))


def _convolution(x: Any, filters: int, strides: int, kernel_size: int = 3) -> Any:
    # The normalization that follows has an offset of its own, so there is no bias.
    return layers.Conv2D(
        filters,
        kernel_size,
        strides,
        padding="same",
        use_bias=False,
        kernel_initializer="he_normal",
    )(x)


def _normalized(x: Any) -> Any:
    return layers.BatchNormalization(momentum=_MOMENTUM)(x)
