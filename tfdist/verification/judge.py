"""The verification itself: which trainings are compared, in which order, and the verdict."""

from __future__ import annotations

from tfdist.factory.context import last
from tfdist.models.seeding import seeded
from tfdist.verification.bench import Bench
from tfdist.verification.design import by_design, workers_of
from tfdist.verification.faults import order_matters, other_batches, other_starts
from tfdist.verification.report import BY_DESIGN, DIFFERENT, EQUAL, Cause, Comparison, Report
from tfdist.verification.trial import Mode, Trial

_ROUNDING = "what is left is rounding"


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
    if bench.is_equal:
        return _report(trial, EQUAL, [bench.comparison])
    mode, names, causes = by_design(bench.plain, trial.strategy)
    before = []
    if causes:
        before = [bench.comparison]
        bench = Bench(trial, mode, f"without {' and '.join(names)}")
    comparisons, found, note = _explain(bench)
    verdict = DIFFERENT if found else BY_DESIGN if causes else EQUAL
    return _report(trial, verdict, [*before, *comparisons], [*causes, *found], note)


def _explain(bench: Bench) -> tuple[list[Comparison], list[Cause], str]:
    """Tell rounding from faults; return the comparisons that do, the faults, and a note."""
    if bench.is_equal:
        return [bench.comparison], [], ""
    moved, much = bench.reversed()
    if much:
        return [bench.comparison], [order_matters(moved, bench.plain.owner)], ""
    if not bench.may_be_rounding(moved):
        return [bench.comparison], bench.faults(), ""
    exact = bench.exactly()
    if exact is not None:
        if not exact.is_equal:
            return [bench.comparison], exact.faults(), ""
        return [bench.comparison, exact.comparison], [], f"{_ROUNDING}: in float64 it is not there"
    bench.allow_for(moved)
    if not bench.is_equal:
        return [bench.comparison], bench.faults(), ""
    return [bench.comparison], [], f"{_ROUNDING}: another order of the rows does as much"


def _report(
    trial: Trial,
    verdict: str,
    comparisons: list[Comparison],
    causes: list[Cause] | None = None,
    note: str = "",
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
        causes=tuple(causes or ()),
        note=note,
    )
