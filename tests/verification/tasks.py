"""What each task of a cluster verifies: a report a line. `python -m tests.verification.tasks`."""

from __future__ import annotations

import sys

import tfdist
from tests.verification import shipped, steps
from tfdist.factory import current


def main(strategy_name: str, names: list[str]) -> None:
    """Verify what is named, one after the other."""
    tfdist.strategy(strategy_name, "cpu")
    for name in names:
        report = shipped.report(name) if name in ("mlp", "cnn", "resnet") else _own(name)
        sys.stdout.write(report.as_json() + "\n")
        sys.stdout.flush()


def _own(name: str) -> tfdist.verification.Report:
    rank = current().cluster.rank or 0
    if name == "other data":
        return tfdist.verify(steps.compiled(steps.OwnMean), steps.data(seed=1 + rank), steps=3)
    if name == "other start":
        return tfdist.verify(steps.compiled(steps.OwnMean), steps.data(), steps=3, seed=rank)
    return tfdist.verify(steps.compiled(getattr(steps, name)), steps.data(), steps=6)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
