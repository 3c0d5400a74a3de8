"""Writes docs/conformance.md from what the tests found, with Keras' own fit beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from tests.conformance import keras_own
from tests.conformance.case import METRICS, WEIGHTS, Case
from tests.conformance.cases import ALL_CASES
from tests.conformance.judge import Row

_FILE = Path(__file__).parents[2] / "docs" / "conformance.md"
_COLUMNS = {
    "one_device": "One device",
    "mirrored": "Mirrored",
    "mirrored_3": "Mirrored, 3",
    "central_storage": "Central storage",
    "multi_worker": "Multi-worker",
    "parameter_server": "Parameter server",
    "parameter_server_2": "Parameter server, 2",
}
_HEAD = f"""# Conformance

Written by `tests/conformance`; do not edit. Every case is a small training of 20 steps or more. It
is played with tfdist under each strategy, and compared with plain Keras on one device that is fed
the same global batches in the same order: the variables of model and optimizer, the number of
steps, every log of every epoch, and what evaluate and predict return.

- **equal**: the largest relative difference is at most {WEIGHTS:.0e} for variables and
  predictions and {METRICS:.0e} for logs, unless a note says otherwise. The number is that
  difference, rounded up to a power of ten; 0 is bit for bit.
- **by design**: several replicas do not give the numbers of one device; the note says what they
  give instead, and the test holds them to it.
- **refused**: one sentence says so before anything is computed.

Mirrored and central storage have two replicas on one machine ("3": three), multi-worker two
processes, parameter server one worker ("2": two). *Keras* is what Keras' own `fit` gives there;
nearly all cases end their epochs with an uneven batch, and that alone makes it differ.
"""

Rows = dict[tuple[str, str], Row]


def write_if_complete(rows: Mapping[tuple[str, str], Row]) -> None:
    """Write the table when every case was played everywhere."""
    wanted = {(case.name, strategy) for case in ALL_CASES for strategy in case.strategies}
    if wanted <= set(rows):
        _FILE.parent.mkdir(exist_ok=True)
        part = _FILE.with_suffix(".part")  # other tests read the documentation meanwhile
        part.write_text(render(rows, keras_own.read()))
        part.replace(_FILE)


def render(rows: Mapping[tuple[str, str], Row], own: keras_own.Own) -> str:
    """Return the table as Markdown."""
    notes: list[str] = []
    lines = [_HEAD]
    for group in dict.fromkeys(case.group for case in ALL_CASES):
        cases = [case for case in ALL_CASES if case.group == group]
        used = [s for s in _COLUMNS if any(s in case.strategies for case in cases)]
        lines += [f"## {group.capitalize()}", "", _row("", [_COLUMNS[s] for s in used])]
        lines += ["|---" * (len(used) + 1) + "|"]
        for case in cases:
            cells = [_cell(rows.get((case.name, s)), own.get(case.name, {}).get(s)) for s in used]
            lines.append(_row(case.name + _marks(case, notes), cells))
        lines.append("")
    lines += ["## Notes", "", *(f"{i}. {note}" for i, note in enumerate(notes, 1)), ""]
    return "\n".join(lines)


def _row(first: str, cells: list[str]) -> str:
    return f"| {first} | {' | '.join(cells)} |"


def _marks(case: Case, notes: list[str]) -> str:
    """Return the numbers of a case's notes; a note that is new is added."""
    mine = [note for note in (case.by_design, case.limits.why) if note]
    notes += [note for note in mine if note not in notes]
    return "".join(f" <sup>{notes.index(note) + 1}</sup>" for note in mine)


def _cell(row: Row | None, own: dict | None) -> str:
    ours = "" if row is None else _verdict(row.verdict, row.largest)
    if row is None or own is None:
        return ours
    theirs = own["wrong"][0] if own["verdict"] == "fails" else ""
    return f"{ours}<br>*Keras: {_verdict(own['verdict'], own['largest'])} {theirs}".rstrip() + "*"


def _verdict(verdict: str, largest: float | None) -> str:
    return verdict if largest is None else f"{verdict}, {_power(largest)}"


def _power(value: float) -> str:
    """Round up to a power of ten."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "NaN"
    return f"{10.0 ** math.ceil(math.log10(value)):.0e}"
