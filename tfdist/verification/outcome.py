"""The numbers that a training left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.capture import is_seed
from tfdist.verification.gradient import Recorder, optimizers

_SHARED = "keras.random without a seed"


@dataclass(frozen=True)
class Numbers:
    """A variable: its path, and the copies of it that the devices of this task hold."""

    path: str
    copies: tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Outcome:
    """What a training left behind.

    Attributes:
        logs: Losses and metrics, of training and of evaluation.
        state: Weights and other state of the layers, in order.
        slots: What each optimizer keeps for its weights, by the attribute that it is.
        iterations: The steps that each optimizer counted, likewise.
        gradients: Where they were recorded, of each weight, by path.
        drew: Layers that drew random numbers.
        normalized: Layers that normalized by the statistics of their replica's part.
        owner: The class whose method takes the loss, and that method.
    """

    logs: Mapping[str, np.ndarray]
    state: tuple[Numbers, ...]
    slots: Mapping[str, tuple[Numbers, ...]]
    iterations: Mapping[str, int]
    gradients: Mapping[str, np.ndarray]
    drew: tuple[str, ...]
    normalized: tuple[str, ...]
    owner: str


def state_of(model: keras.Model) -> list[keras.Variable]:
    """Return the variables of a model, but for those of its metrics."""
    metrics = {id(v) for metric in model.metrics for v in metric.variables}
    return [v for v in model.variables if id(v) not in metrics and v.dtype != "string"]


def number(variable: keras.Variable) -> np.ndarray:
    """Return the value of a variable of any strategy."""
    return _array(internals.raw(variable))


def outcome(
    model: keras.Model, logs: Mapping[str, Any], before: Mapping[int, np.ndarray]
) -> Outcome:
    """Take the numbers of a model after training; `before` are those of its variables, by id."""
    named = {id(o): (name, o) for _, name, o in optimizers(model)}
    found = [o for _, o in named.values()]
    return Outcome(
        logs=dict(_flat(logs)),
        state=tuple(_numbers(v) for v in state_of(model) if not is_seed(v)),
        slots={name: tuple(map(_numbers, _slots(o))) for name, o in named.values()},
        iterations={name: int(number(o.iterations)) for name, o in named.values()},
        gradients=_gradients(found),
        drew=(
            *_names(each for each in model._flatten_layers() if _drew(_seeds(each), before)),
            *([_SHARED] if _drew(shared_seeds(), before) else []),
        ),
        normalized=_names(local_normalizations(model)),
        owner=_owner(model),
    )


def local_normalizations(model: keras.Model) -> list[keras.Layer]:
    """Return the layers that train with the statistics of a replica's part of the batch."""
    return [
        layer
        for layer in model._flatten_layers()
        if isinstance(layer, keras.layers.BatchNormalization)
        and layer.trainable
        and not layer.synchronized
    ]


def _gradients(optimizers: Iterable[keras.Optimizer]) -> dict[str, np.ndarray]:
    """Return the gradient of each weight, of all optimizers that were given one."""
    gradients: dict[str, np.ndarray] = {}
    for optimizer in optimizers:
        for path, gradient in optimizer.recorded if isinstance(optimizer, Recorder) else ():
            gradients[path] = gradients.get(path, 0) + number(gradient)
    return gradients


def shared_seeds() -> list[keras.Variable]:
    """Return the state of the generator of random numbers that are drawn without a seed."""
    state = internals.global_seed_state()
    return [] if state is None else [state]


def _seeds(layer: keras.Layer) -> list[keras.Variable]:
    return [generator.state for generator in layer._seed_generators]


def _drew(seeds: Iterable[keras.Variable], before: Mapping[int, np.ndarray]) -> bool:
    return any((number(s) != before.get(id(s), number(s))).any() for s in seeds)


def _names(layers: Iterable[keras.Layer]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(layer.name for layer in layers))


def _slots(optimizer: keras.Optimizer) -> list[keras.Variable]:
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    counts = {id(each._iterations) for each in (optimizer, inner)}
    return [v for v in optimizer.variables if id(v) not in counts]


def _numbers(variable: keras.Variable) -> Numbers:
    raw = internals.raw(variable)
    copies = raw.values if isinstance(raw, tf.distribute.DistributedValues) else (raw,)
    return Numbers(variable.path, tuple(map(_array, copies)))


def _array(value: Any) -> np.ndarray:
    tensor = tf.convert_to_tensor(value)
    return tensor.numpy() if tensor.dtype.is_integer else tf.cast(tensor, tf.float64).numpy()


def _flat(logs: Mapping[str, Any]) -> Iterable[tuple[str, np.ndarray]]:
    for name, value in logs.items():
        if isinstance(value, Mapping):
            yield from _flat(value)
        else:
            yield name, np.asarray(value, np.float64)


def _owner(model: keras.Model) -> str:
    for name in ("train_step", "compute_loss", "_compute_loss"):
        if getattr(type(model), name) is not getattr(internals.KerasTrainer, name):
            return f"{type(model).__name__}.{name}"
    return "the loss function or a layer"
