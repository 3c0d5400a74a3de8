"""What comes back from a function that ran on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class History:
    """What Keras' History has, without its model, which stays in the task that trained it."""

    history: dict[str, list] = field(default_factory=dict)
    epoch: list[int] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)


@dataclass
class Result:
    """What the chief's function returned.

    Attributes:
        value: That itself; a History or model in it is a `History` here.
        history: Loss and metrics of each epoch, by name; empty when nothing was trained.
        weights: The weights of the model that was trained, in the order of `get_weights()`.
    """

    value: Any = None
    history: dict[str, list] = field(default_factory=dict)
    weights: list = field(default_factory=list)


def result_of(value: Any) -> Result:
    """Return what a task sends back of what its function returned. Needs Keras."""
    import keras

    found = Result()

    def plain(each: Any) -> Any:
        if isinstance(each, keras.Model):
            found.weights = each.get_weights()
            each = getattr(each, "history", None)
        if isinstance(each, keras.callbacks.History):
            found.weights = each.model.get_weights()
            found.history = dict(each.history)
            return History(found.history, list(each.epoch), dict(each.params or {}))
        if type(each) in (list, tuple):
            return type(each)(plain(one) for one in each)
        if type(each) is dict:
            return {name: plain(one) for name, one in each.items()}
        return each

    found.value = plain(value)
    return found
