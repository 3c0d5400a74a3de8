"""What did the user's own function return?"""

from __future__ import annotations

from typing import Any

import keras

from tfdist import names
from tfdist.errors import UsageError


def build(name: str, input_shape: Any, num_classes: int | None, seed: int | None) -> keras.Model:
    """Call module:function with those of input_shape=, num_classes= and seed= that it takes.

    Raises:
        UsageError: it cannot be called, or returned no Keras model that can be built.
    """
    model = names.call(name, input_shape=input_shape, num_classes=num_classes, seed=seed)
    if not isinstance(model, keras.Model):
        raise UsageError(
            f"{name!r} returned a value of type {type(model).__module__}.{type(model).__qualname__}"
            ", but a model of Keras 3 (keras.Model) is expected: return the model"
        )
    if not model.built:
        _make_variables(model, name, input_shape)
    return model


def _make_variables(model: keras.Model, name: str, input_shape: Any) -> None:
    try:
        model(keras.tree.map_shape_structure(keras.Input, input_shape))
    except Exception as error:  # The layers are the user's: each fails in its own way.
        raise UsageError(
            f"{name!r} returned a model that cannot be built for examples of shape {input_shape} "
            f"({str(error).strip().partition(chr(10))[0]}): build it in the function"
        ) from error
