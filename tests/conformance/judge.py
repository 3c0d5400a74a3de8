"""What a case showed under a strategy, in one row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tests.conformance.case import Case
from tests.conformance.compare import compare
from tests.conformance.record import Record
from tests.conformance.strategies import STRATEGIES


@dataclass(frozen=True)
class Row:
    """A cell of the table.

    Attributes:
        verdict: "equal", "by design", "refused", "differs" or "fails".
        largest: Largest relative difference from the reference; None where there is none.
        wrong: A sentence for each thing that is not as it must be.
    """

    verdict: str
    largest: float | None
    wrong: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The row as plain values."""
        return asdict(self)


def judge(case: Case, strategy: str, reference: Record, records: Sequence[Record]) -> Row:
    """Compare what the tasks recorded with the reference, and with each other."""
    errors = [r.error for r in records if r.error]
    if strategy in case.refused:
        return _refusal(case.refused[strategy], [r.error for r in records])
    if errors:
        return Row("fails", None, tuple(errors))
    replicas = STRATEGIES[strategy].replicas
    unlike = _unlike(records)
    if case.expect is not None and replicas > 1:
        wrong = (*case.expect(records[0], reference, replicas), *unlike)
        return Row("differs" if wrong else "by design", None, wrong)
    difference = compare(reference, records[0], case.iterations)
    wrong = (*difference.complaints(case.limits), *unlike)
    equal = "by design" if case.by_design and replicas > 1 else "equal"
    return Row("differs" if wrong else equal, difference.largest, wrong)


def _refusal(wanted: str, errors: list[str]) -> Row:
    if all(re.search(f"UsageError: .*{wanted}", error) for error in errors):
        return Row("refused", None, ())
    return Row("fails", None, (f"it ends with {errors}, not with the refusal {wanted!r}",))


def _unlike(records: Sequence[Record]) -> list[str]:
    """Return in what a task differs from the first one: every bit must be the same.

    What the case showed beside is left out: only one task writes files.
    """
    found = []
    for number, record in enumerate(records[1:], 1):
        difference = compare(replace(records[0], seen={}), replace(record, seen={}))
        if difference.largest or difference.unlike:
            where = difference.unlike or (difference.weights_at, difference.metrics_at)
            found.append(f"task {number} differs from task 0 by {difference.largest:.1e}: {where}")
    return found
