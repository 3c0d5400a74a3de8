"""What a verification found, as plain values. Imports no TensorFlow."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from tfdist.errors import EXIT_DONE, EXIT_FAILED

EQUAL, BY_DESIGN, DIFFERENT = "equal", "equal but by design", "different"


@dataclass(frozen=True)
class Row:
    """One number, or the variables of one layer, on one device and under the strategy.

    Attributes:
        kind: "log" (a loss or metric), "layer" (weights and other state), "optimizer" or "count".
        name: Of the log or layer.
        difference: The largest difference, relative to the largest value on one device.
        limit: Up to where that counts as equal.
        one_device, strategy: The values of a log or count.
    """

    kind: str
    name: str
    difference: float
    limit: float
    one_device: float | None = None
    strategy: float | None = None

    @property
    def is_equal(self) -> bool:
        """Whether the difference is within the limit; one that is no number is not."""
        return self.difference <= self.limit


@dataclass(frozen=True)
class Comparison:
    """A training on one device against the same under the strategy.

    Attributes:
        title: What was trained: as it is, or without something.
        rows: Logs, layers, optimizers, counts.
        rounding: How much a change of rounding alone moved any row; None when not looked for.
    """

    title: str
    rows: tuple[Row, ...]
    rounding: float | None = None

    @property
    def is_equal(self) -> bool:
        """Whether every row is."""
        return all(row.is_equal for row in self.rows)

    @property
    def largest(self) -> float:
        """The largest difference."""
        return max((row.difference for row in self.rows), default=0.0)


@dataclass(frozen=True)
class Cause:
    """Why the numbers differ.

    Attributes:
        by_design: Whether that is how the model is meant to be; else it is a fault.
        what: What was found, a sentence without its full stop.
        remedy: What to do, likewise.
        factor: How many times that of one device the gradient or log is, where that was found.
    """

    by_design: bool
    what: str
    remedy: str
    factor: float | None = None


@dataclass(frozen=True)
class Report:
    """Whether a model trains under a strategy with the numbers of one device.

    Attributes:
        verdict: "equal", "equal but by design" (something differs by design, and nothing else
            does) or "different".
        strategy: Its name.
        replicas, workers: Of the whole job.
        batches: Examples in each global batch, in order.
        comparisons: The training as it is; then, if need be, without what differs by design.
        causes: Why numbers differ.
        note: What else there is to say to the verdict.
    """

    verdict: str
    strategy: str
    replicas: int
    workers: int
    batches: tuple[int, ...]
    comparisons: tuple[Comparison, ...]
    causes: tuple[Cause, ...] = ()
    note: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs but by design."""
        return self.verdict != DIFFERENT

    @property
    def exit_code(self) -> int:
        """0 when nothing differs but by design, else 1."""
        return EXIT_DONE if self.is_equal else EXIT_FAILED

    def as_json(self) -> str:
        """The report as one JSON object; numbers that JSON does not have are null."""
        return json.dumps(_plain(asdict(self) | {"is_equal": self.is_equal}), allow_nan=False)

    def __str__(self) -> str:
        from tfdist.verification.table import show

        return show(self)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
