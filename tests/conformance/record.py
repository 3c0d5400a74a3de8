"""What a case left behind: the numbers that must be those of one device."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.conformance.case import Outcome


@dataclass(frozen=True)
class Record:
    """The numbers of one case under one strategy; only arrays, so that processes can send it.

    Attributes:
        variables: Path and value of all variables of model and optimizer, in order.
        iterations: The number of steps each optimizer counted.
        logs: Every log of every epoch, and what evaluate returned.
        predictions: Outputs of predict.
        seen: What else the case showed.
        spread: The largest difference between the copies that devices hold of one variable.
        error: How it failed, "" when it did not.
        seconds: How long it took.
    """

    variables: list[tuple[str, np.ndarray]] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    logs: dict[str, np.ndarray] = field(default_factory=dict)
    predictions: list[np.ndarray] = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)
    spread: float = 0.0
    error: str = ""
    seconds: float = 0.0


def record(model: keras.Model, outcome: Outcome) -> Record:
    """Take the numbers of a model that was played with."""
    optimizers = _optimizers(model)
    variables = _state(model, optimizers)
    return Record(
        variables=[(v.path, _array(v)) for v in variables],
        iterations=[int(keras.ops.convert_to_numpy(o.iterations)) for o in optimizers],
        logs=_logs(outcome),
        predictions=[np.asarray(p) for p in outcome.predictions],
        seen=outcome.seen,
        spread=max((_spread(v._value) for v in variables), default=0.0),
    )


def _optimizers(model: keras.Model) -> list:
    """The optimizers that took a step: Keras makes one for a model that has two of its own."""
    own = (value for name, value in sorted(vars(model).items()) if "optimizer" in name)
    found = [getattr(model, "optimizer", None), *own]
    made = {id(o): o for o in found if isinstance(o, keras.optimizers.Optimizer)}
    return [o for o in made.values() if int(keras.ops.convert_to_numpy(o.iterations))]


def _state(model: keras.Model, optimizers: list) -> list:
    """Weights, seeds, other state and slots; not the metrics, which are reset, nor the counts."""
    metrics = {id(v) for metric in model.metrics for v in metric.variables}
    counts = {id(o._iterations) for o in optimizers}
    every = [*model.variables, *(v for o in optimizers for v in o.variables)]
    known = metrics | counts
    return list({id(v): v for v in every if id(v) not in known}.values())


def _logs(outcome: Outcome) -> dict[str, np.ndarray]:
    epochs = _flat(outcome.history)
    evaluated = {k: [v] for k, v in outcome.evaluation.items()}
    return epochs | {f"evaluate {k}": v for k, v in _flat(evaluated).items()}


def _flat(history: dict[str, list]) -> dict[str, np.ndarray]:
    """One array for each log; a metric may have several in a dictionary."""
    flat: dict[str, np.ndarray] = {}
    for name, values in history.items():
        if values and isinstance(values[0], dict):
            flat |= _flat({key: [value[key] for value in values] for key in values[0]})
        else:
            flat[name] = np.asarray(values)
    return flat


def _array(variable: keras.Variable) -> np.ndarray:
    value = tf.convert_to_tensor(variable._value)
    return tf.cast(value, tf.float32).numpy() if value.dtype == tf.bfloat16 else value.numpy()


def _spread(raw: Any) -> float:
    copies: Iterable = getattr(raw, "values", ())
    arrays = [np.asarray(tf.cast(c, tf.float64)) for c in copies] if _is_mirrored(raw) else []
    return max((float(np.abs(a - arrays[0]).max(initial=0)) for a in arrays[1:]), default=0.0)


def _is_mirrored(raw: Any) -> bool:
    return isinstance(raw, tf.distribute.DistributedValues) and raw.dtype != tf.string
