"""A pair of trainings, one on one device and one under the strategy, judged alike by all tasks."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import tensorflow as tf

from tfdist.verification.compare import ROUNDINGS, beside_rounding, compare
from tfdist.verification.factors import Gradients
from tfdist.verification.faults import elsewhere, in_every_batch, unknown
from tfdist.verification.outcome import Outcome
from tfdist.verification.report import Cause, Comparison
from tfdist.verification.trial import Mode, Start, Trial

_STABLE = 1e-2  # relative change of a log that another rounding may make


class Bench:
    """Trains the model of a trial on both sides in one mode.

    Args:
        trial: The model under test.
        mode: How it is trained.
        title: The mode in words.
        start: The state to begin with, by default that of a new model.
    """

    def __init__(self, trial: Trial, mode: Mode, title: str, start: Start | None = None) -> None:
        self._trial = trial
        self._mode = mode
        self.title = title
        self.plain, self._start = trial.on_one_device(mode, start)
        self.comparison = self._compare(title, trial.under_strategy(mode, self._start))

    @property
    def is_equal(self) -> bool:
        """Whether the comparison finds nothing, on any task."""
        return not self._trial.tasks.any(not self.comparison.is_equal)

    def other_starts(self) -> dict[str, int]:
        """Return the tasks that begin with other weights than the first."""
        return self._trial.tasks.unlike_first([_checksum(self._start)])

    def reversed(self) -> tuple[Comparison, bool]:
        """Return how one device differs when only the order of rows does, and whether by much."""
        other, _ = self._trial.on_one_device(replace(self._mode, reverse=True), self._start)
        moved = self._compare("rounding", other)
        return moved, self._trial.tasks.any(not _logs_agree(moved, _STABLE))

    def may_be_rounding(self, moved: Comparison) -> bool:
        """Return whether the steps are as many, and the logs as near as rounding leaves them."""
        counts = all(row.is_equal for row in self.comparison.rows if row.kind == "count")
        near = _logs_agree(self.comparison, max(_STABLE, ROUNDINGS * moved.largest))
        return not self._trial.tasks.any(not (counts and near))

    def allow_for(self, rounding: Comparison) -> None:
        """Widen the limits of the comparison to what rounding does."""
        self.comparison = beside_rounding(self.comparison, rounding)

    def exactly(self) -> Bench | None:
        """Return the same in double precision; None where the model cannot be trained in it."""
        try:
            mode = replace(self._mode, exact=True)
            return Bench(self._trial, mode, f"{self.title}, in float64", self._start)
        except (TypeError, ValueError, tf.errors.InvalidArgumentError):
            # Code of the user's own may be written for float32.
            return None

    def faults(self) -> list[Cause]:
        """Return why the two differ."""
        replicas, owner = self._trial.strategy.num_replicas_in_sync, self.plain.owner
        found = in_every_batch(self._gradients("even"), replicas, owner)
        if self._trial.tasks.any(bool(found)):
            return found or [unknown()]
        return elsewhere(self.comparison, self._gradients("last"), replicas, owner)

    def _compare(self, title: str, other: Outcome) -> Comparison:
        return compare(title, self.plain, other)

    def _gradients(self, batch: str) -> Gradients:
        mode = replace(self._mode, recorded=batch)
        plain, start = self._trial.on_one_device(mode, self._start)
        strategy = self._trial.under_strategy(mode, start)
        nothing = np.asarray(0.0)
        return {
            path: (gradient, strategy.gradients.get(path, nothing))
            for path, gradient in plain.gradients.items()
        }


def _logs_agree(comparison: Comparison, limit: float) -> bool:
    logs = (row.difference for row in comparison.rows if row.kind == "log")
    return all(difference <= limit for difference in logs)


def _checksum(arrays: Sequence[np.ndarray]) -> int:
    total = 0
    for array in arrays:
        total = zlib.crc32(np.ascontiguousarray(array).tobytes(), total)
    return total
