"""How far a record is from the reference, and whether that is too far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.conformance.case import Limits
from tests.conformance.record import Record

_NOTHING = 1e-6  # a variable or log whose largest value is below this is compared absolutely


@dataclass(frozen=True)
class Difference:
    """The largest differences, and where they are.

    Attributes:
        weights, metrics: Relative differences.
        weights_at, metrics_at: The variable (or output) and the log that differ most.
        unlike: Sentences on what must be the same and is not: counts, names, shapes.
    """

    weights: float
    weights_at: str
    metrics: float
    metrics_at: str
    unlike: tuple[str, ...]

    @property
    def largest(self) -> float:
        """The larger of the two."""
        return max(self.weights, self.metrics)

    def complaints(self, limits: Limits) -> list[str]:
        """Return a sentence for each thing that differs too much."""
        found = list(self.unlike)
        # A NaN is beyond every limit.
        if not self.weights <= limits.weights:
            found.append(f"{self.weights_at} differs by {self.weights:.1e} > {limits.weights:.0e}")
        if not self.metrics <= limits.metrics:
            found.append(f"{self.metrics_at} differs by {self.metrics:.1e} > {limits.metrics:.0e}")
        return found


def compare(reference: Record, record: Record, iterations: int | None = None) -> Difference:
    """Compare a record with the reference; `iterations` is the true count, where that is wrong."""
    weights, metrics, unlike = [(0.0, "")], [(0.0, "")], []
    counts = reference.iterations if iterations is None else [iterations]
    if record.iterations != counts:
        unlike.append(f"optimizer.iterations is {record.iterations}, not {counts}")
    if record.spread:
        unlike.append(f"the copies of a variable differ by {record.spread:.1e}")
    expected, found = _numbered(reference.variables, record.variables)
    _pairs("variables", expected, found, weights, unlike)
    outputs, others = dict(enumerate(reference.predictions)), dict(enumerate(record.predictions))
    _pairs("predictions", outputs, others, weights, unlike)
    _pairs("logs", reference.logs, record.logs, metrics, unlike)
    _pairs("seen", reference.seen, record.seen, metrics, unlike)
    (w, w_at), (m, m_at) = max(weights, key=_first), max(metrics, key=_first)
    return Difference(w, w_at, m, m_at, tuple(unlike))


def _first(pair: tuple[float, str]) -> float:
    return np.inf if np.isnan(pair[0]) else pair[0]


def _numbered(reference: list, record: list) -> tuple[dict, dict]:
    """Name variables by their order and the reference's path: paths depend on who built first."""
    names = [f"{i} {path}" for i, (path, _) in enumerate(reference)]
    more = [f"{i} {path}" for i, (path, _) in enumerate(record)][len(names) :]
    return (
        {name: value for name, (_, value) in zip(names, reference, strict=True)},
        {name: value for name, (_, value) in zip(names + more, record, strict=False)},
    )


def _pairs(what: str, reference: dict, record: dict, into: list, unlike: list) -> None:
    if set(reference) != set(record):
        unlike.append(f"{what} are {list(record)}, not {list(reference)}")
        return
    for name, expected in reference.items():
        a, b = np.asarray(expected), np.asarray(record[name])
        if a.shape != b.shape:
            unlike.append(f"{what} {name} has shape {b.shape}, not {a.shape}")
        elif a.dtype.kind in "OSU":
            if not np.array_equal(a, b):
                unlike.append(f"{what} {name} is {b}, not {a}")
        else:
            into.append((relative(a, b), f"{what} {name}"))


def relative(expected: Any, value: Any) -> float:
    """Return the largest difference over the largest expected value; NaN equals NaN."""
    a, b = np.asarray(expected, np.float64), np.asarray(value, np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return float("nan")
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    scale = float(np.abs(a).max(initial=0))
    return float(np.abs(a - b).max(initial=0)) / (scale if scale > _NOTHING else 1.0)
