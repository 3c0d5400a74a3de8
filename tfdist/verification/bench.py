"""Pairs of trainings, one on one device and one under the strategy, judged alike by all tasks."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfdist.verification.compare import compare
from tfdist.verification.faults import Gradients, faults
from tfdist.verification.outcome import Outcome
from tfdist.verification.report import Cause, Comparison
from tfdist.verification.trial import Mode, Trial

_STABLE = 1e-2  # relative change of a log that another rounding may make


class Bench:
    """Trains the model of a trial on both sides in one mode.

    Args:
        trial: The model under test.
        mode: How it is trained.
        title: The mode in words.
    """

    def __init__(self, trial: Trial, mode: Mode, title: str) -> None:
        self._trial = trial
        self._mode = mode
        self._strategy, self._start = trial.under_strategy(mode)
        self.plain: Outcome = trial.on_one_device(mode, self._start)
        self.comparison = compare(title, self.plain, self._strategy)

    def is_equal(self, comparison: Comparison) -> bool:
        """Return whether a comparison finds nothing, on any task."""
        return not self._trial.tasks.any(not comparison.is_equal)

    def other_starts(self) -> dict[str, int]:
        """Return the tasks that begin with other weights than the first."""
        return self._trial.tasks.unlike_first([_checksum(self._start)])

    def rounding(self) -> tuple[Comparison, bool]:
        """Return how far one device is from itself when only rounding changes, and if not far."""
        reverse = self._trial.on_one_device(replace(self._mode, reverse=True), self._start)
        moved = compare("rounding", self.plain, reverse)
        far = any(not r.difference <= _STABLE for r in moved.rows if r.kind == "log")
        return moved, not self._trial.tasks.any(far)

    def faults(self, comparison: Comparison) -> list[Cause]:
        """Return why they differ."""
        replicas = self._trial.strategy.num_replicas_in_sync
        even, last = self._gradients("even"), self._gradients("last")
        return faults(comparison, even, last, replicas, self.plain.owner)

    def _gradients(self, batch: str) -> Gradients:
        mode = replace(self._mode, recorded=batch)
        strategy, start = self._trial.under_strategy(mode)
        plain = self._trial.on_one_device(mode, start)
        both = zip(plain.gradients, strategy.gradients, strict=True)
        return {one.path: (one.copies[0], other.copies[0]) for one, other in both}


def _checksum(arrays: Sequence[np.ndarray]) -> int:
    total = 0
    for array in arrays:
        total = zlib.crc32(np.ascontiguousarray(array).tobytes(), total)
    return total
