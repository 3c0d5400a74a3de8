"""Which variables make up a run's state, and how do they come back from a checkpoint?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training import internals

WEIGHT, METRICS = "weight", "metric"
# Keras numbers what has no name, by how many such things the process made before.
_NUMBER = re.compile(r"_\d+(?=[_/]|$)")


@dataclass(frozen=True)
class Value:
    """A variable's value: of which kind it is, its path in the model, and the number."""

    kind: str
    path: str
    array: np.ndarray

    @property
    def described(self) -> dict[str, Any]:
        """What a manifest tells of it."""
        shape, dtype = list(self.array.shape), str(self.array.dtype)
        return {"kind": self.kind, "path": self.path, "shape": shape, "dtype": dtype}


def values(model: keras.Model, kinds: Sequence[str] | None = None) -> list[Value]:
    """Return copies of all values of a model's state; metrics, optimizers and seeds included."""
    return [
        Value(kind, variable.path, number(variable))
        for kind, variable in _variables(model)
        if kinds is None or kind in kinds
    ]


def number(variable: keras.Variable) -> np.ndarray:
    """Return a copy of a variable's value, put together where it is kept in parts."""
    return np.copy(np.asarray(tf.convert_to_tensor(internals.raw(variable))))


def restore(
    model: keras.Model,
    where: str,
    saved: Sequence[Value],
    metrics: bool,
    only: str | None = None,
) -> None:
    """Give a model's variables the saved values.

    Args:
        model: Built and compiled.
        where: What the values were read from, for people.
        saved: All values of the state of such a model, under any strategy.
        metrics: Whether those of its metrics count; they do in the middle of an epoch.
        only: The one kind that counts; None for all.

    Raises:
        UsageError: with the first difference, when they are another model's.
    """

    def counts(kind: str) -> bool:
        return (metrics or kind != METRICS) and only in (None, kind)

    wanted = [v for v in saved if counts(v.kind)]
    own = [(kind, v) for kind, v in _variables(model) if counts(kind)]
    for index in range(max(len(wanted), len(own))):
        there = _described(wanted[index].described) if index < len(wanted) else "nothing more"
        here = _described(_here(*own[index])) if index < len(own) else "nothing more"
        if there != here:
            raise UsageError(
                f"{where} is of another model, optimizer or metrics: it has {there} where this "
                f"model has {here}; give another folder, or build the model as it was"
            )
    for value, (_, variable) in zip(wanted, own, strict=True):
        variable.assign(value.array)


def keys(saved: Sequence[Value]) -> dict[str, np.ndarray]:
    """Return the arrays by the names they have in a file."""
    return {f"{index:05d} {value.kind}": value.array for index, value in enumerate(saved)}


def from_file(arrays: Mapping[str, np.ndarray], described: Sequence[Mapping]) -> list[Value]:
    """Return the values of a file, of which a manifest tells kind, path and dtype."""
    return [
        Value(each["kind"], each["path"], _typed(arrays[f"{i:05d} {each['kind']}"], each["dtype"]))
        for i, each in enumerate(described)
    ]


def _variables(model: keras.Model) -> list[tuple[str, keras.Variable]]:
    counts = [v for m in model.metrics for v in m.variables] if model.compiled else []
    kept = [model.optimizer, *vars(model).values()] if model.compiled else []
    slots = [v for o in kept if isinstance(o, keras.Optimizer) for v in o.variables]
    apart = {id(v) for v in counts + slots}
    seed = internals.global_seed_state()
    groups = {
        WEIGHT: [v for v in model.variables if id(v) not in apart],
        "optimizer": slots,
        "seed": [] if seed is None else [seed],
        METRICS: counts,
    }
    found = {id(v): (kind, v) for kind, group in reversed(groups.items()) for v in group}
    return [found.pop(id(v)) for group in groups.values() for v in group if id(v) in found]


def _here(kind: str, variable: keras.Variable) -> dict[str, Any]:
    shape, dtype = list(variable.shape), keras.backend.standardize_dtype(variable.dtype)
    return {"kind": kind, "path": variable.path, "shape": shape, "dtype": dtype}


def _described(each: Mapping[str, Any]) -> str:
    path = _NUMBER.sub("", each["path"])
    return f"{each['kind']} {path!r} of shape {tuple(each['shape'])} and {each['dtype']}"


def _typed(array: np.ndarray, dtype: str) -> np.ndarray:
    """Return an array of its dtype: NumPy's files do not know bfloat16."""
    return array if array.dtype.kind != "V" else array.view(tf.as_dtype(dtype).as_numpy_dtype)
