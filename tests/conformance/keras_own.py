"""What Keras' own fit gives under each strategy: `python -m tests.conformance.keras_own`.

It takes long, because Keras' fit may crash and hang; what it gave is kept in keras_own.json.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.conformance.case import Case
from tests.conformance.cases import ALL_CASES
from tests.conformance.groups import Group
from tests.conformance.judge import Row, judge
from tests.conformance.run import play_reference

_FILE = Path(__file__).with_suffix(".json")
_CASE_SECONDS = 60.0
_STRATEGIES = ("mirrored", "central_storage", "multi_worker", "parameter_server")

Own = dict[str, dict[str, dict]]  # case -> strategy -> a row


def read() -> Own:
    """Return what was measured last."""
    return json.loads(_FILE.read_text()) if _FILE.exists() else {}


def measure(strategies: Sequence[str], only_missing: bool) -> None:
    """Let Keras' own fit play every case, and keep what it gave."""
    for strategy in strategies:
        known = [name for name, rows in read().items() if only_missing and strategy in rows]
        cases = [c for c in ALL_CASES if strategy in c.strategies and c.name not in known]
        group = Group(strategy, [c.name for c in cases], keras=True, case_seconds=_CASE_SECONDS)
        for case in cases:
            records = group.records(case.name, 600)
            row = judge(_plainly(case), strategy, play_reference(case, 1), records)
            _keep(case.name, strategy, _short(row))
            sys.stderr.write(f"{strategy}: {case.name}: {row.verdict} {row.wrong}\n")
        group.close()


def _keep(case: str, strategy: str, row: dict) -> None:
    own = read()
    own.setdefault(case, {})[strategy] = row
    _FILE.write_text(json.dumps(own, indent=1, sort_keys=True) + "\n")


def _plainly(case: Case) -> Case:
    """The case without what tfdist does by design: Keras is held against one device."""
    return replace(case, by_design="", expect=None, refused={}, reference=None)


def _short(row: Row) -> dict:
    """The row with the name of the error only."""
    if row.verdict != "fails":
        return row.as_json() | {"wrong": list(row.wrong)[:1]}
    name = re.match(r"\w+", row.wrong[0])
    known = {"ended": "hangs" if "code None" in row.wrong[0] else "crashes"}
    error = name.group() if name else "Error"
    return row.as_json() | {"wrong": [known.get(error, error)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategies", nargs="*", default=_STRATEGIES)
    parser.add_argument("--missing", action="store_true", help="Only cases not measured yet.")
    asked = parser.parse_args()
    measure(asked.strategies, asked.missing)
