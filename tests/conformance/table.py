"""docs/conformance.md; `python -m tests.conformance.table` measures the column of Keras' own fit."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conformance.case import METRICS, WEIGHTS, Case
from tests.conformance.cases import ALL_CASES
from tests.conformance.judge import Row, judge

_ROOT = Path(__file__).parents[2]
_TABLE = _ROOT / "docs" / "conformance.md"
_KERAS = Path(__file__).with_name("keras_own.json")
_COLUMNS = {
    "one_device": "One device",
    "mirrored": "Mirrored",
    "mirrored_3": "Mirrored, 3 replicas",
    "central_storage": "Central storage",
    "multi_worker": "Multi-worker",
    "parameter_server": "Parameter server",
    "parameter_server_2": "Parameter servers, 2 workers",
}
_CASE_SECONDS = 40.0
_HEAD = """# Conformance

Written by `tests/conformance`; do not edit.

Each row is a case that trains at least 20 steps with tfdist under each strategy and is compared with plain Keras on one
device, fed the same global batches: all variables of the model and the optimizer, the number of steps, every log of
every epoch, and what evaluate and predict return. *Equal* means a relative difference of at most {weights:.0e} for variables
and predictions and {metrics:.0e} for logs, unless a note says otherwise; the number is the largest difference found, rounded up to
a power of ten. Mirrored and central storage have two CPU replicas (a third where the column says so), multi-worker two processes, the
parameter server one worker. Below each line: what Keras' own `fit` gives under the same strategy.
"""

Rows = dict[tuple[str, str], Row]


def write_if_complete(rows: Mapping[tuple[str, str], Row]) -> None:
    """Write the table when every case was played everywhere."""
    wanted = {(case.name, strategy) for case in ALL_CASES for strategy in case.strategies}
    if wanted <= set(rows):
        _TABLE.parent.mkdir(exist_ok=True)
        _TABLE.write_text(render(rows, _keras_own()))


def render(rows: Mapping[tuple[str, str], Row], own: Mapping[str, Mapping[str, dict]]) -> str:
    """Return the table as Markdown."""
    lines = [_HEAD.format(weights=WEIGHTS, metrics=METRICS)]
    groups = dict.fromkeys(case.group for case in ALL_CASES)
    notes: list[str] = []
    for group in groups:
        lines += ["", f"## {group.capitalize()}", "", *_head()]
        for case in (c for c in ALL_CASES if c.group == group):
            lines.append(_line(case, rows, notes))
            lines.append(_own_line(case, own))
    lines += ["", "## Notes", "", *(f"{i}. {note}" for i, note in enumerate(notes, 1)), ""]
    return "\n".join(lines)


def _head() -> list[str]:
    return ["| | " + " | ".join(_COLUMNS.values()) + " |", "|---" * (len(_COLUMNS) + 1) + "|"]


def _line(case: Case, rows: Mapping[tuple[str, str], Row], notes: list[str]) -> str:
    marks = "".join(
        f" [{_number(note, notes)}]" for note in (case.by_design, case.limits.why) if note
    )
    cells = [_cell(rows.get((case.name, strategy))) for strategy in _COLUMNS]
    return f"| **{case.name}**{marks} | " + " | ".join(cells) + " |"


def _number(note: str, notes: list[str]) -> int:
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1


def _own_line(case: Case, own: Mapping[str, Mapping[str, dict]]) -> str:
    found = [own.get(case.name, {}).get(strategy) for strategy in _COLUMNS]
    return "| *Keras' fit* | " + " | ".join(_own_cell(cell) for cell in found) + " |"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return row.verdict if row.largest is None else f"{row.verdict}, {_power(row.largest)}"


def _own_cell(cell: dict | None) -> str:
    if cell is None:
        return ""
    if cell["verdict"] == "fails":
        return f"*fails: {cell['wrong'][0].split(':')[0].split(' ')[0]}*"
    return f"*{cell['verdict']}, {_power(cell['largest'])}*"


def _power(value: float) -> str:
    """Round up to a power of ten."""
    if value == 0 or not math.isfinite(value):
        return str(value).removesuffix(".0")
    return f"{10.0 ** math.ceil(math.log10(value)):.0e}"


def _keras_own() -> dict:
    return json.loads(_KERAS.read_text()) if _KERAS.exists() else {}


def measure_keras(strategies: Sequence[str]) -> None:
    """Let Keras' own fit play every case, in processes that may crash or hang; keep what it gave."""
    from tests.conformance import run
    from tests.conformance.groups import Group

    own = _keras_own()
    for strategy in strategies:
        cases = [case for case in ALL_CASES if strategy in case.strategies]
        group = Group(strategy, [c.name for c in cases], keras=True, case_seconds=_CASE_SECONDS)
        try:
            for case in cases:
                records = group.records(case.name, 4 * _CASE_SECONDS)
                reference = run.play_reference(case, 1)
                row = judge(_plainly(case), strategy, reference, records)
                own.setdefault(case.name, {})[strategy] = row.as_json()
                sys.stderr.write(f"{strategy}: {case.name}: {row.verdict} {row.largest}\n")
        finally:
            group.close()
        _KERAS.write_text(json.dumps(own, indent=1, sort_keys=True) + "\n")


def _plainly(case: Case) -> Case:
    """The case without what tfdist does by design: Keras is held against one device."""
    from dataclasses import replace

    return replace(case, by_design="", expect=None, refused={})


if __name__ == "__main__":
    measure_keras(sys.argv[1:] or [s for s in _COLUMNS if s not in ("one_device", "mirrored_3")])
