"""Time to the same loss between two hosts behind a slow cable; needs root: `--help`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from contenders import Contender, contenders, measure
from hosts import end_in_order, two_hosts

_WHOLE = "tfdist ring"
_BESIDE = ("tfdist ring, factors", "tfdist mpi, factors", "tfdist mpi, bf16")


def main() -> None:
    """Let whole gradients over RING train for some steps, and the others until that loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="wide")
    parser.add_argument("--rate", default="100mbit", help="of the cable, as tc writes it")
    parser.add_argument("--steps", type=int, default=20, help="of RING; the loss it has then")
    parser.add_argument("--most", type=int, default=5, help="times as many steps of the others")
    parser.add_argument("--batch", type=int, default=128, help="examples in a global batch")
    parser.add_argument("--period", type=int, default=5, help="of averages, of workers apart")
    parser.add_argument("--json", help="file to write all figures to")
    given = parser.parse_args()
    end_in_order()
    whole, others = beside(given.period)
    found = {}
    with two_hosts(given.rate) as hosts:

        def run(contender: Contender, steps: int, loss: float) -> dict[str, float]:
            until = ("--until", str(loss))
            return measure(contender, given.model, steps, given.batch, hosts, until)

        found[whole.name] = run(whole, given.steps, 0.0)
        loss = found[whole.name]["loss"]
        for other in others:
            # A rounding above: who computes the same must not need a pass more.
            found[other.name] = run(other, given.steps * given.most, loss * (1 + 1e-5))
            sys.stderr.write(f"{other.name}: {found[other.name]}\n")
    sys.stdout.write("\n".join(table(found, loss)) + "\n")
    if given.json:
        with open(given.json, "w") as file:
            json.dump(found, file, indent=1)


def beside(period: int) -> tuple[Contender, list[Contender]]:
    """Return who sends whole gradients, and who sends less."""
    known = {c.name: c for c in contenders(None, None)}
    whole = known[_WHOLE]
    apart = dataclasses.replace(
        whole,
        name=f"tfdist ring, an average every {period} steps",
        options=(*whole.options, f"--period={period}"),
    )
    return whole, [apart, *(known[name] for name in _BESIDE)]


def table(found: dict[str, dict[str, float]], loss: float) -> list[str]:
    """Return the lines of a table in Markdown: seconds, and how many times faster than the first.

    Args:
        found: Of each contender its seconds, steps and loss, the first for comparison.
        loss: What was to be reached.
    """
    lines = [f"| to loss {loss:.4g} | seconds | steps | times faster |", "|---|---|---|---|"]
    slowest = next(iter(found.values()))["seconds"]
    for name, run in found.items():
        reached = run["loss"] <= loss * (1 + 1e-5)
        faster = f"{slowest / run['seconds']:.1f}" if reached else f"not reached: {run['loss']:.4g}"
        lines.append(f"| {name} | {run['seconds']:.1f} | {run['steps']:.0f} | {faster} |")
    return lines


if __name__ == "__main__":
    main()
