"""Which optimizer does a name stand for?"""

from __future__ import annotations

import inspect
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


def build(
    name: str,
    learning_rate: float | None = None,
    *,
    factor: float = 1.0,
    warmup_steps: int = 0,
    accumulate_steps: int = 1,
) -> keras.Optimizer:
    """Make the optimizer of this name.

    Args:
        name: One of `NAMES`.
        learning_rate: By default its own.
        factor: What the learning rate is multiplied by.
        warmup_steps: Steps in which it rises to its value.
        accumulate_steps: Steps whose mean gradient makes one update.
    """
    import keras

    from tfdist.run.warmup import WarmUp

    class_name, arguments = _CLASSES[name]
    kind = getattr(keras.optimizers, class_name)
    own = inspect.signature(kind).parameters["learning_rate"].default
    rate = factor * (own if learning_rate is None else learning_rate)
    several = None if accumulate_steps == 1 else accumulate_steps
    return kind(
        name=name,
        learning_rate=WarmUp(rate, warmup_steps) if warmup_steps else rate,
        gradient_accumulation_steps=several,
        **arguments,
    )
