"""How far two trainings of one model are apart: by log, layer and optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tfdist.verification.outcome import Numbers, Outcome
from tfdist.verification.report import Comparison, Row

WEIGHTS = 1e-5  # relative to the largest value of a variable
LOGS = 1e-6  # relative to the value
_NOTHING = 1e-6  # what is smaller than this is compared absolutely
ROUNDINGS = 5  # how often the effect of another rounding counts as rounding


def compare(title: str, one_device: Outcome, strategy: Outcome) -> Comparison:
    """Compare a training under a strategy with that on one device."""
    rows = [
        *_logs(one_device, strategy),
        *_layers("layer", one_device.state, strategy.state, _layer),
    ]
    for name, slots in one_device.slots.items():
        rows += _layers("optimizer", slots, strategy.slots[name], partial(_always, name))
    for name, count in one_device.iterations.items():
        rows.append(_count(name, count, strategy.iterations[name]))
    return Comparison(title, tuple(rows))


def beside_rounding(comparison: Comparison, rounding: Comparison) -> Comparison:
    """Return a comparison whose limits are at least some times the effect of another rounding."""
    of_logs = max((row.difference for row in rounding.rows if row.kind == "log"), default=0.0)
    rows = []
    for row, same in zip(comparison.rows, rounding.rows, strict=True):
        moved = of_logs if row.kind == "log" else same.difference
        rows.append(replace(row, limit=max(row.limit, ROUNDINGS * moved)))
    return Comparison(comparison.title, tuple(rows), rounding.largest)


def relative(expected: np.ndarray, value: np.ndarray) -> float:
    """Return the largest difference over the largest expected value; infinite for NaN in one."""
    if expected.shape != value.shape or not np.array_equal(np.isnan(expected), np.isnan(value)):
        return np.inf
    expected, value = np.nan_to_num(expected), np.nan_to_num(value)
    scale = float(np.abs(expected).max(initial=0))
    largest = float(np.abs(expected - value).max(initial=0))
    return largest / (scale if scale > _NOTHING else 1.0)


def _logs(one_device: Outcome, strategy: Outcome) -> Iterator[Row]:
    missing = np.asarray(np.nan)
    for name in dict.fromkeys((*one_device.logs, *strategy.logs)):
        one, other = (np.asarray(each.logs.get(name, missing)) for each in (one_device, strategy))
        difference = relative(one, other)
        yield Row("log", name, difference, LOGS, float(one.mean()), float(other.mean()))


def _layers(
    kind: str,
    one_device: Sequence[Numbers],
    strategy: Sequence[Numbers],
    group: Callable[[Numbers], str],
) -> Iterable[Row]:
    largest: dict[str, float] = {}
    for one, copies in _paired(one_device, strategy):
        difference = max((relative(one.copies[0], copy) for copy in copies), default=np.inf)
        name = group(one)
        largest[name] = max(largest.get(name, 0.0), difference)
    return [Row(kind, name, difference, WEIGHTS) for name, difference in largest.items()]


def _paired(
    one_device: Sequence[Numbers], strategy: Sequence[Numbers]
) -> Iterator[tuple[Numbers, tuple[np.ndarray, ...]]]:
    """Bring together what is the same variable: by order, or by path where some are missing."""
    if len(one_device) == len(strategy):
        yield from ((one, other.copies) for one, other in zip(one_device, strategy, strict=True))
        return
    by_path = {other.path: other.copies for other in strategy}
    yield from ((one, by_path.get(one.path, ())) for one in one_device)


def _layer(numbers: Numbers) -> str:
    return numbers.path.rpartition("/")[0] or numbers.path


def _always(name: str, numbers: Numbers) -> str:
    return name


def _count(name: str, one_device: int, strategy: int) -> Row:
    return Row("count", f"{name} steps", abs(one_device - strategy), 0, one_device, strategy)
