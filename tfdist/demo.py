"""Train the handwritten digits under every strategy, and compare."""

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tfdist.arguments import Parser
from tfdist.cluster import Task
from tfdist.errors import EXIT_DONE, EXIT_FAILED, UsageError
from tfdist.launch import first_failure, run_local, show
from tfdist.run.door import answer

# Strategy: its devices in each process, and the tasks of its cluster.
RUNS: dict[str, tuple[str, dict[str, int]]] = {
    "one_device": ("cpu", {}),
    "mirrored": ("cpu:2", {}),
    "central_storage": ("cpu:2", {}),
    "multi_worker": ("cpu", {"worker": 2}),
    "parameter_server": ("cpu", {"chief": 1, "worker": 2, "ps": 1}),
}
_FLAGS = ("--dataset=digits", "--model=mlp", "--global_batch_size=32", "--epochs=20", "--verbose=0")
_TIMEOUT_SECONDS = 180.0
_GOOD_ACCURACY = 0.95
_SAME = 1e-5  # relative difference of the norms of weights that are the same
_COLUMNS = (
    ("strategy", "strategy", "s"),
    ("replicas", "replicas", "d"),
    ("loss", "loss", ".5f"),
    ("val_accuracy", "val_accuracy", ".4f"),
    ("examples_per_second", "examples/s", ",.0f"),
    ("weights_norm", "weights_norm", ".5f"),
)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    return answer(lambda: _demo(_chosen(words)))


def _chosen(words: Sequence[str] | None) -> list[str]:
    parser = Parser(prog="python -m tfdist.demo", description=__doc__)
    parser.add_argument("strategies", nargs="*", help=f"some of {', '.join(RUNS)} [all]")
    chosen = parser.parse_args(words).strategies or list(RUNS)
    unknown = [name for name in chosen if name not in RUNS]
    if unknown:
        raise UsageError(
            f"{unknown[0]!r} is no strategy of the demo: give some of {', '.join(RUNS)}"
        )
    return chosen


def _demo(strategies: Sequence[str]) -> int:
    _write(f"python -m tfdist.train {' '.join(_FLAGS)}")
    records = []
    for name in strategies:
        devices, sizes = RUNS[name]
        _write(f"  {name}: {_processes(sizes)} on {devices}")
        record = _run(name, devices, sizes)
        if record is None:
            return EXIT_FAILED
        records.append(record)
    _write(f"\n{table(records)}\n")
    found = list(verdicts(records))
    _write("\n".join(sentence for _, sentence in found))
    return EXIT_DONE if all(good for good, _ in found) else EXIT_FAILED


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Show run records as a table, a line for each."""
    rows = [[title for _, title, _ in _COLUMNS]]
    rows += [[format(each[key], form) for key, _, form in _COLUMNS] for each in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def verdicts(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[bool, str]]:
    """Judge run records: whether each claim of the demo holds, and a sentence that says so."""
    low = [each["strategy"] for each in records if each["val_accuracy"] <= _GOOD_ACCURACY]
    yield (
        not low,
        f"validation accuracy above {_GOOD_ACCURACY}: "
        + (f"not under {', '.join(low)}" if low else "yes, in each"),
    )
    by_name = {each["strategy"]: each for each in records}
    for name in ("mirrored", "central_storage", "multi_worker"):
        if name in by_name and "one_device" in by_name:
            norms = [by_name[each]["weights_norm"] for each in ("one_device", name)]
            same = math.isclose(*norms, rel_tol=_SAME)
            yield same, f"{name} ends with the weights of one device: {'yes' if same else 'no'}"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = row
    return "  ".join(
        [
            first.ljust(widths[0]),
            *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True)),
        ]
    )


def _run(name: str, devices: str, sizes: Mapping[str, int]) -> dict[str, Any] | None:
    """The run record of the chief; None, with all output shown, when a task failed."""
    told: list[tuple[Task, str, str]] = []
    command = [sys.executable, "-m", "tfdist.train", f"--strategy={name}", f"--devices={devices}"]
    ended = run_local(
        [*command, *_FLAGS],
        sizes,
        heard=lambda *line: told.append(line),
        timeout_seconds=_TIMEOUT_SECONDS,
    )
    if failure := first_failure(ended):
        for line in told:
            show(*line)
        after = f" within {_TIMEOUT_SECONDS:.0f} s" if failure.was_stopped else ""
        _write(f"{name}: {failure.task} did not end well{after} (code {failure.code})")
        return None
    chief = Task("chief" if "chief" in sizes else "worker", 0)
    return json.loads([line for task, _, line in told if task == chief][-1])


def _processes(sizes: Mapping[str, int]) -> str:
    jobs = [f"{count} {job}" for job, count in sizes.items()]
    return f"{sum(sizes.values())} processes ({', '.join(jobs)})" if sizes else "1 process"


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
