"""Measure tfdist beside its peers, all in one run: `python benchmarks/compare.py --help`."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections import defaultdict

from contenders import contenders, measure

_STEPS = {"mlp": 2000, "cnn": 200, "wide": 40}
Times = dict[str, dict[str, list[float]]]  # of each model and contender, ms per step of each round


def main() -> None:
    """Run all contenders in turn, several times, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="mlp,cnn,wide")
    parser.add_argument("--rounds", type=int, default=5, help="times each is run, in turn")
    parser.add_argument("--batch", type=int, default=128, help="examples in a global batch")
    parser.add_argument("--only", default="", help="contenders whose name has this in it")
    parser.add_argument("--torch-python", help="interpreter of an environment with torch 2.13")
    parser.add_argument("--keras-python", help="interpreter of an environment with tf-keras 2.21")
    parser.add_argument("--json", help="file to write all figures to")
    given = parser.parse_args()
    times = _run(given)
    sys.stdout.write("\n".join(table(times)) + "\n")
    if given.json:
        with open(given.json, "w") as file:
            json.dump(times, file, indent=1)


def _run(given: argparse.Namespace) -> Times:
    every = [c for c in contenders(given.torch_python, given.keras_python) if given.only in c.name]
    times: Times = {model: defaultdict(list) for model in given.models.split(",")}
    for turn in range(given.rounds):
        for model in times:
            # The order alternates, so that no one always runs behind the same other.
            for contender in every if turn % 2 == 0 else reversed(every):
                try:
                    ms = measure(contender, model, _STEPS[model], given.batch)
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                    ms = math.nan
                    sys.stderr.write(f"{contender.name} failed: {error}\n")
                times[model][contender.name].append(ms)
                load = os.getloadavg()[0]
                sys.stderr.write(f"{turn} {model} {contender.name}: {ms:.3f} ms, load {load:.1f}\n")
    return times


def table(times: Times) -> list[str]:
    """Return the lines of a table in Markdown: medians, and how many times the first's each is."""
    names = list(next(iter(times.values())))
    lines = ["| ms per step | " + " | ".join(times) + " |", "|---" * (len(times) + 1) + "|"]
    for name in names:
        cells = []
        for of in times.values():
            median, failed = _median(of[name])
            ratio = median / _median(of[names[0]])[0]
            cells.append(f"{median:.3g} ({ratio:.2f} x){failed}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def _median(times: list[float]) -> tuple[float, str]:
    """Return the median of the runs that did not fail, and a word on those that did."""
    good = [ms for ms in times if not math.isnan(ms)]
    failed = len(times) - len(good)
    return statistics.median(good or [math.nan]), f", {failed} failed" if failed else ""


if __name__ == "__main__":
    main()
