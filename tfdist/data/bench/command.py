"""The measurement as a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from itertools import pairwise

from tfdist.cluster import Cluster
from tfdist.data import load
from tfdist.data.bench.appetite import appetite
from tfdist.data.bench.rate import rates
from tfdist.data.bench.stages import CACHE, PLAIN, stages
from tfdist.data.settings import Settings
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.run.loading import load_tensorflow


def run(settings: Settings, cluster: Cluster) -> int:
    """Measure a pipeline, print the report, and return the exit code.

    Raises:
        UsageError: the data cannot be read, or this is a task of a cluster.
    """
    if not cluster.is_local:
        raise UsageError(
            f"{cluster.source} describes a cluster, and --bench measures this machine alone: unset "
            "it for this command"
        )
    load_tensorflow()
    source = load(settings.dataset, settings.data_dir, settings.reading())
    order, augment = settings.order(), settings.augment(settings.seed)
    taken = None
    if settings.model is not None:
        taken = appetite(settings.model, source, order, augment, settings.seconds)
    with source.bad.told() if source.bad is not None else nullcontext():
        datasets = dict(stages(source, order, augment))
        found = rates(datasets, source.train_examples, settings.seconds)
    sys.stdout.write("\n".join(report(settings, found, taken)) + "\n")
    sys.stdout.flush()
    return EXIT_DONE


def report(settings: Settings, found: Mapping[str, float], taken: float | None) -> Iterator[str]:
    """Yield the lines that tell the rates of the stages and of the model.

    Args:
        settings: what was measured.
        found: the examples a second of each stage with those before it, in their order.
        taken: those that the model takes; None when it was not measured.
    """
    yield f"{settings.dataset} in batches of {settings.global_batch_size}, examples/s:"
    of_stages = {name: rate for name, rate in found.items() if name != PLAIN}
    for name, rate in of_stages.items():
        yield f"  {name:<18}{rate:>12,.0f}"
    *_, whole = of_stages.values()
    if PLAIN in found:
        ratio = f"the pipeline gives {whole / found[PLAIN]:.2f} times as many"
        yield f"  {PLAIN:<18}{found[PLAIN]:>12,.0f}  {ratio}"
    if taken is None:
        most = f"most of its time goes to {_most(of_stages)!r}"
        yield f"the pipeline gives {whole:,.0f} examples/s, and {most}"
        return
    yield f"  {settings.model:<18}{taken:>12,.0f}"
    if whole < taken:
        most = _most(of_stages)
        yield f"the limit is the data, {whole / taken:.0%} of what the model takes: see {most!r}"
    else:
        yield f"the limit is the model, which takes {taken / whole:.0%} of what the data gives"


def _most(stages: Mapping[str, float]) -> str:
    """The stage that adds the most time to an example, after the cache if there is one."""
    names = list(stages)
    names = names[names.index(CACHE) :] if CACHE in names else names
    seconds = [1 / stages[name] for name in names]
    added = [seconds[0], *(b - a for a, b in pairwise(seconds))]
    return max(zip(added, names, strict=True))[1]
