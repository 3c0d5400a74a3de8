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
from contextlib import nullcontext

from contenders import Contender, contenders, measure, on_one_device
from hosts import Hosts, end_in_order, two_hosts

_STEPS = {"mlp": 2000, "cnn": 200, "wide": 40}
Times = dict[str, dict[str, list[float]]]  # of each model and contender, a figure of each round


def main() -> None:
    """Run all contenders in turn, several times, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default="mlp,cnn,wide")
    parser.add_argument("--rounds", type=int, default=5, help="times each is run, in turn")
    parser.add_argument("--steps", type=int, help="of each run that are timed")
    parser.add_argument("--batch", type=int, default=128, help="examples in a global batch")
    parser.add_argument(
        "--only", default="", help="those of these names, or of names with these parts: a;b"
    )
    parser.add_argument("--torch-python", help="interpreter of an environment with torch 2.13")
    parser.add_argument("--keras-python", help="interpreter of an environment with tf-keras 2.21")
    parser.add_argument("--rate", help="between two hosts with a cable such as 1gbit; needs root")
    parser.add_argument("--json", help="file to write all figures to")
    parser.add_argument("--one-device", action="store_true", help="fit beside that of Keras 3")
    given = parser.parse_args()
    end_in_order()
    with two_hosts(given.rate) if given.rate else nullcontext() as hosts:
        found = _run(given, hosts)
    for figure, unit in (("ms_per_step", "ms per step"), ("mb", "MB of a worker")):
        sys.stdout.write("\n".join(table(_each(found, figure), unit)) + "\n\n")
    if given.json:
        with open(given.json, "w") as file:
            json.dump(found, file, indent=1)


def _each(found: dict, figure: str) -> Times:
    return {
        model: {name: [run.get(figure, math.nan) for run in runs] for name, runs in of.items()}
        for model, of in found.items()
    }


def _run(given: argparse.Namespace, hosts: Hosts | None) -> dict:
    several = contenders(given.torch_python, given.keras_python)
    every = chosen(on_one_device() if given.one_device else several, given.only)
    every = [c for c in every if hosts is None or c.processes == 2]
    found: dict = {model: defaultdict(list) for model in given.models.split(",")}
    for turn in range(given.rounds):
        for model in found:
            # The order alternates, so that no one always runs behind the same other.
            for contender in every if turn % 2 == 0 else reversed(every):
                try:
                    steps = given.steps or _STEPS[model]
                    ran = measure(contender, model, steps, given.batch, hosts)
                except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                    ran = {}
                    sys.stderr.write(f"{contender.name} failed: {error}\n")
                found[model][contender.name].append(ran)
                load = os.getloadavg()[0]
                sys.stderr.write(f"{turn} {model} {contender.name}: {ran}, load {load:.1f}\n")
    return found


def chosen(known: list[Contender], only: str) -> list[Contender]:
    """Return those of a name that is given, or that has a part of it where that is no name."""
    names = {c.name for c in known}
    parts = only.split(";")
    return [c for c in known if any(p == c.name or (p not in names and p in c.name) for p in parts)]


def table(times: Times, unit: str) -> list[str]:
    """Return the lines of a table in Markdown: medians, and how many times the first's each is."""
    names = list(next(iter(times.values())))
    lines = [f"| {unit} | " + " | ".join(times) + " |", "|---" * (len(times) + 1) + "|"]
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
