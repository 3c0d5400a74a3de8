"""Which architectures of keras.applications are there, and how do they take our data?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras
from keras import layers

from tfdist.models.shapes import refuse_other_than_image

_MIN_SIDE = {"Xception": 71, "InceptionV3": 75, "InceptionResNetV2": 75}  # Pixels.
_USUAL_MIN_SIDE = 32


def functions() -> dict[str, Callable[..., keras.Model]]:
    """Return the architectures by name, as in {"ResNet50": keras.applications.ResNet50, ...}."""
    found = {name: getattr(keras.applications, name) for name in dir(keras.applications)}
    return {name: each for name, each in found.items() if inspect.isfunction(each)}


def build(
    function: Callable[..., keras.Model], input_shape: tuple[int, int, int], num_classes: int
) -> keras.Model:
    """Build the architecture with fresh weights and a head of `num_classes` logits.

    Images smaller than it can take are enlarged to its least size, as the first layer of the model.

    Raises:
        UsageError: the examples are not images of a fixed size.
    """
    name = function.__name__
    refuse_other_than_image(name, input_shape)
    inputs = keras.Input(input_shape)
    x = _on_expected_scale(name, _large_enough(name, inputs))
    arguments = {
        "weights": None,
        "classes": num_classes,
        "classifier_activation": None,
        "input_tensor": x,
        "input_shape": tuple(x.shape[1:]),
        # Our pixels are in [0, 1]; the built-in preprocessing expects 0 to 255.
        "include_preprocessing": False,
    }
    taken = inspect.signature(function).parameters
    model = function(**{key: value for key, value in arguments.items() if key in taken})
    # Given a tensor, Keras makes a model of a list of one input, and warns when it is fed.
    return keras.Model(inputs, model.output, name=model.name)


def _large_enough(name: str, x: Any) -> Any:
    height, width = x.shape[1:3]
    least = _MIN_SIDE.get(name, _USUAL_MIN_SIDE)
    if min(height, width) >= least:
        return x
    return layers.Resizing(max(height, least), max(width, least))(x)


def _on_expected_scale(name: str, x: Any) -> Any:
    # EfficientNetB0 to B7 divide by 255 inside, and that cannot be switched off.
    return layers.Rescaling(255.0)(x) if name.startswith("EfficientNetB") else x
