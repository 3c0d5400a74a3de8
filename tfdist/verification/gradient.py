"""The gradient of one step, as it reaches the optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import keras


class Recorder(keras.Optimizer):
    """Keeps the sum of the gradients it is given, and changes no weight."""

    def __init__(self) -> None:
        super().__init__(learning_rate=1.0, name="recorder")

    def build(self, variables: list) -> None:
        """Make a place for the gradient of each variable."""
        if not self.built:
            super().build(variables)
            self._recorded = self.add_optimizer_variables(variables, "gradient")

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Add a gradient."""
        self.assign_add(self._recorded[self._get_variable_index(variable)], gradient)

    @property
    def recorded(self) -> list[tuple[str, keras.Variable]]:
        """The path of each variable and its gradient."""
        if not self.built:
            return []
        pairs = zip(self._trainable_variables, self._recorded, strict=True)
        return [(variable.path, gradient) for variable, gradient in pairs]


def record(model: keras.Model) -> None:
    """Put a recorder in the place of each optimizer of a model."""
    recorders: dict[int, Recorder] = {}
    for owner, name, optimizer in list(optimizers(model)):
        setattr(owner, name, recorders.setdefault(id(optimizer), Recorder()))


def optimizers(model: keras.Model) -> Iterator[tuple[Any, str, keras.Optimizer]]:
    """Yield the optimizers of a model, also those of its own steps, and what they belong to."""
    for owner in model._flatten_layers():
        for name, value in vars(owner).items():
            if isinstance(value, keras.Optimizer):
                yield owner, name, value
