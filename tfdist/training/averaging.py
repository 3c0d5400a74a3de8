"""The mean of several models that were trained apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfdist.errors import UsageError


def average(
    models: Sequence[keras.Model | str | Path], weights: Sequence[float] | None = None
) -> keras.Model:
    """Return a model whose weights are the mean of those of several models.

    Floating weights, moving statistics among them, are averaged; others are those of the first.
    From files the optimizer's slots are averaged too, so that training can go on.

    Args:
        models: At least one: Keras models of the same layers, or files they were saved in.
        weights: What each counts for, such as the examples it has seen; by default all the same.

    Raises:
        UsageError: there is no model, they differ in their weights, or the numbers in `weights` are
            not one for each, none below 0 and not all 0.
    """
    parts = _parts(len(models), weights)
    loaded = [m if isinstance(m, keras.Model) else keras.models.load_model(m) for m in models]
    _check_alike(loaded)
    from_files = not any(isinstance(m, keras.Model) for m in models)
    kept = loaded[0] if from_files else keras.models.clone_model(loaded[0])
    every = [_variables(m, from_files) for m in (kept, *loaded)]
    if len(set(map(len, every))) > 1:  # some were saved without their slots
        every = [m.weights for m in (kept, *loaded)]
    for target, *values in zip(*every, strict=True):
        target.assign(_mean([v.numpy() for v in values], parts))
    return kept


def _parts(count: int, weights: Sequence[float] | None) -> np.ndarray:
    given = np.asarray([1.0] * count if weights is None else weights, np.float64)
    if not count or given.shape != (count,) or (given < 0).any() or not 0 < given.sum() < np.inf:
        raise UsageError(
            f"average() received {count} models and the weights {weights}: give at least one "
            "model, and for each a number of 0 or more, not all 0."
        )
    return given / given.sum()


def _check_alike(models: Sequence[keras.Model]) -> None:
    shapes = [[(tuple(v.shape), v.dtype) for v in m.weights] for m in models]
    for number, each in enumerate(shapes):
        if each != shapes[0]:
            raise UsageError(
                f"model {number} has other weights than model 0, so that they have no mean: give "
                "models of the same layers."
            )


def _variables(model: keras.Model, slots: bool) -> list[keras.Variable]:
    optimizer = getattr(model, "optimizer", None) if slots else None
    return [*model.weights, *(optimizer.variables if optimizer is not None else ())]


def _mean(values: list[Any], parts: np.ndarray) -> Any:
    if "float" not in values[0].dtype.name:  # bfloat16 is none of NumPy's own
        return values[0]
    total = sum(p * np.asarray(v, np.float64) for p, v in zip(parts, values, strict=True))
    return np.asarray(total).astype(values[0].dtype)
