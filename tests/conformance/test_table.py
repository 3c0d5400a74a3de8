"""The table that is committed is that of these cases."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.conformance import table
from tests.conformance.cases import ALL_CASES, BY_NAME
from tests.conformance.judge import Row

_FILE = Path(__file__).parents[2] / "docs" / "conformance.md"


def test_every_case_has_its_line() -> None:
    lines = _FILE.read_text().splitlines()
    missing = [c.name for c in ALL_CASES if not any(x.startswith(f"| {c.name}") for x in lines)]
    assert not missing, "run the whole of tests/conformance, which writes the table anew"


def test_no_case_is_named_twice() -> None:
    assert len(ALL_CASES) == len(BY_NAME)


@pytest.mark.parametrize(
    ("row", "own", "text"),
    [
        (Row("equal", 3.2e-7, ()), None, "equal, 1e-06"),
        (Row("equal", 0.0, ()), None, "equal, 0"),
        (Row("refused", None, ()), None, "refused"),
        (
            Row("equal", 3.2e-7, ()),
            {"verdict": "fails", "largest": None, "wrong": ["hangs"]},
            "equal, 1e-06<br>*Keras: fails hangs*",
        ),
        (
            Row("equal", 3.2e-7, ()),
            {"verdict": "differs", "largest": math.nan, "wrong": ["x"]},
            "equal, 1e-06<br>*Keras: differs, NaN*",
        ),
    ],
)
def test_a_cell(row: Row, own: dict | None, text: str) -> None:
    case = BY_NAME["SGD"]
    beside = {} if own is None else {case.name: {"mirrored": own}}
    drawn = table.render({(case.name, "mirrored"): row}, beside)
    line = next(line for line in drawn.splitlines() if line.startswith("| SGD |"))
    assert text in line.split(" | ")
