"""Do all tasks call fit, evaluate and predict alike? Asked before the first step."""

from typing import Any

import tensorflow as tf

from tfdist.cluster.differences import first_difference
from tfdist.errors import UsageError
from tfdist.factory.context import last


def refuse_differences(engine: Any, call: str, **facts: Any) -> None:
    """Compare a call, its data and its model with those of the other tasks.

    Args:
        engine: Of the model.
        call: The name of the method.
        **facts: What must be the same, as JSON values, by names that the user knows.

    Raises:
        UsageError: on every task, with the first difference.
        StartAgainError: a task does not come.
    """
    context = last()
    if context is None or context.channel is None or context.cluster.has_ps:
        return
    if context.strategy is not engine.strategy:
        return
    ours = {call: facts, "model": _described(engine.model)}
    everyone = context.channel.gather("call", ours)
    for task, theirs in zip(context.cluster.members, everyone, strict=True):
        found = first_difference(everyone[0], theirs)
        if found is not None:
            path, first, other = found
            raise UsageError(
                f"{path} is {first} on {context.cluster.chief} and {other} on {task}: start every "
                "task with the same script, model and data."
            )


def spec_of(batch: Any) -> list[str]:
    """Return the types and shapes of a batch but for its number of examples."""
    leaves = [leaf for leaf in tf.nest.flatten(batch) if hasattr(leaf, "dtype")]
    return [f"{leaf.dtype.name} {_shape(getattr(leaf, 'shape', None))}" for leaf in leaves]


def _shape(shape: Any) -> str:
    if shape is None or shape.rank is None:
        return "of any shape"
    return str(shape[1:])


def _described(model: Any) -> dict[str, Any]:
    optimizer = getattr(model, "optimizer", None)  # a model that only predicts has none
    facts: dict[str, Any] = {
        f"variable {number + 1}": f"{each.name} {tuple(each.shape)} {each.dtype}"
        for number, each in enumerate(model.variables if model.built else ())
    }
    if optimizer is not None:
        facts["optimizer"] = type(optimizer).__name__
        facts |= {
            f"optimizer.{name}": value
            for name, value in optimizer.get_config().items()
            if name != "name" and isinstance(value, (int, float, str, bool, type(None)))
        }
    return facts
