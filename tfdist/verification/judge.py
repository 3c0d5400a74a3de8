"""The verification itself: which trainings are compared, in which order, and the verdict."""

from __future__ import annotations

from tfdist.factory.context import last
from tfdist.models.seeding import seeded
from tfdist.verification.bench import Bench
from tfdist.verification.compare import beside_rounding
from tfdist.verification.design import by_design, workers_of
from tfdist.verification.faults import order_matters, other_batches, other_starts
from tfdist.verification.report import BY_DESIGN, DIFFERENT, EQUAL, Cause, Comparison, Report
from tfdist.verification.trial import Mode, Trial


def judge(trial: Trial) -> Report:
    """Compare, find out why numbers differ, and say the verdict; the same on every task."""
    with seeded(trial.seed):
        unlike = trial.tasks.unlike_first(trial.batches.digests)
        if unlike:
            return _report(trial, DIFFERENT, [], other_batches(unlike))
        return _train_and_judge(trial)


def _train_and_judge(trial: Trial) -> Report:
    bench = Bench(trial, Mode(), "as it is")
    if unlike := bench.other_starts():
        return _report(trial, DIFFERENT, [bench.comparison], other_starts(unlike))
    if bench.is_equal(bench.comparison):
        return _report(trial, EQUAL, [bench.comparison], [])
    mode, names, causes = by_design(bench.plain, trial.strategy)
    before = []
    if causes:
        before = [bench.comparison]
        bench = Bench(trial, mode, f"without {' and '.join(names)}")
    comparison, found = _explain(bench)
    verdict = DIFFERENT if found else BY_DESIGN if causes else EQUAL
    return _report(trial, verdict, [*before, comparison], [*causes, *found])


def _explain(bench: Bench) -> tuple[Comparison, list[Cause]]:
    """Return a comparison, with limits that leave room for rounding, and the faults in it."""
    comparison = bench.comparison
    if bench.is_equal(comparison):
        return comparison, []
    rounding, is_small = bench.rounding()
    if not is_small:
        return comparison, [order_matters(rounding, bench.plain.owner)]
    comparison = beside_rounding(comparison, rounding)
    return comparison, [] if bench.is_equal(comparison) else bench.faults(comparison)


def _report(
    trial: Trial, verdict: str, comparisons: list[Comparison], causes: list[Cause]
) -> Report:
    context = last()
    ours = context is not None and context.strategy is trial.strategy
    name = context.choice.name if context is not None and ours else type(trial.strategy).__name__
    workers = context.num_workers if context is not None and ours else workers_of(trial.strategy)
    return Report(
        verdict=verdict,
        strategy=name,
        replicas=trial.strategy.num_replicas_in_sync * workers_of(trial.strategy),
        workers=workers,
        batches=trial.batches.sizes,
        comparisons=tuple(comparisons),
        causes=tuple(causes),
    )
