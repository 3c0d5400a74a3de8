"""The verification itself: which trainings are compared, in which order, and the verdict."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from tfdist.factory.context import last
from tfdist.models.seeding import seeded
from tfdist.verification.compare import beside_rounding, compare
from tfdist.verification.design import by_design, workers_of
from tfdist.verification.faults import faults, order_matters, pairs
from tfdist.verification.outcome import Outcome
from tfdist.verification.report import BY_DESIGN, DIFFERENT, EQUAL, Cause, Comparison, Report
from tfdist.verification.trial import Mode, Trial

_STABLE = 1e-2  # relative change of a log that another rounding may make


def judge(trial: Trial) -> Report:
    """Compare, find out why numbers differ, and say the verdict; the same on every task."""
    with seeded(trial.seed):
        causes = _other_batches(trial)
        if causes:
            return _report(trial, DIFFERENT, [], causes)
        return _judge(trial)


def _judge(trial: Trial) -> Report:
    bench = _Bench(trial)
    comparison, plain, start = bench.compare("as it is", Mode())
    if bench.equal(comparison):
        return _report(trial, EQUAL, [comparison], [])
    shown = [comparison]
    mode, names, causes = by_design(plain, trial.strategy)
    if causes:
        comparison, plain, start = bench.compare(f"without {' and '.join(names)}", mode)
        shown.append(comparison)
    equal = bench.equal(comparison)
    if not equal:
        rounding = bench.rounding(mode, plain, start)
        if not bench.stable(rounding):
            causes.append(order_matters(rounding, plain.owner))
        else:
            comparison = beside_rounding(comparison, rounding)
            shown[-1] = comparison
            equal = bench.equal(comparison)
            if not equal:
                causes += bench.faults(comparison, mode, plain.owner)
    verdict = DIFFERENT if not equal else BY_DESIGN if causes else EQUAL
    return _report(trial, verdict, shown, causes)


class _Bench:
    """Makes the trainings of a trial, and lets all tasks judge them alike."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial

    def compare(self, title: str, mode: Mode) -> tuple[Comparison, Outcome, Sequence[np.ndarray]]:
        """Return a comparison, what came of one device, and the state both began with."""
        strategy, start = self._trial.under_strategy(mode)
        plain = self._trial.on_one_device(mode, start)
        return compare(title, plain, strategy), plain, start

    def equal(self, comparison: Comparison) -> bool:
        """Return whether it is equal on every task."""
        return not self._trial.tasks.any(not comparison.is_equal)

    def stable(self, rounding: Comparison) -> bool:
        """Return whether the logs stay what they are when only the rounding changes."""
        logs = [row.difference for row in rounding.rows if row.kind == "log"]
        return not self._trial.tasks.any(not all(each <= _STABLE for each in logs))
