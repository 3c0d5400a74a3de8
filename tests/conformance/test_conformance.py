"""Every feature of Keras, under every strategy, against plain Keras on one device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tensorflow as tf

from tests.conformance import run, table
from tests.conformance.case import Case
from tests.conformance.groups import Group
from tests.conformance.judge import judge
from tests.conformance.record import Record
from tests.conformance.strategies import STRATEGIES

# A guard only: the suite may run behind others, with what they leave of the processor.
_WAIT_SECONDS = 1200


@pytest.mark.timeout(_WAIT_SECONDS + 20)
def test_gives_the_numbers_of_one_device(
    case: Case,
    strategy: str,
    made: Callable[[str], tf.distribute.Strategy],
    reference: Callable[[str, int], Record],
    groups: dict[str, Group],
    found: table.Rows,
) -> None:
    played = STRATEGIES[strategy]
    if played.is_local:
        records = [run.play_safely(case, made(strategy), run.distributed)]
    else:
        records = groups[strategy].records(case.name, _WAIT_SECONDS)
    expected = reference(case.name, played.replicas)
    row = judge(case, strategy, expected, records)
    found[case.name, strategy] = row
    assert not row.wrong, "\n".join(row.wrong)
