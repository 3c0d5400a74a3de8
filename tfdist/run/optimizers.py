"""Which optimizer does a name stand for?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import keras

# Name: the class of keras.optimizers, and what it is given beside the learning rate.
_CLASSES: dict[str, tuple[str, dict[str, float]]] = {
    "sgd": ("SGD", {}),
    "momentum": ("SGD", {"momentum": 0.9}),
    "adam": ("Adam", {}),
    "adamw": ("AdamW", {}),
    "lion": ("Lion", {}),
    "rmsprop": ("RMSprop", {}),
    "adagrad": ("Adagrad", {}),
    "nadam": ("Nadam", {}),
    "adafactor": ("Adafactor", {}),
    "lamb": ("Lamb", {}),
    "ftrl": ("Ftrl", {}),
}
NAMES = tuple(_CLASSES)


def build(name: str, learning_rate: float | None = None) -> keras.Optimizer:
    """Make the optimizer of this name, with its own learning rate when none is given."""
    import keras

    class_name, arguments = _CLASSES[name]
    if learning_rate is not None:
        arguments = {**arguments, "learning_rate": learning_rate}
    return getattr(keras.optimizers, class_name)(name=name, **arguments)
