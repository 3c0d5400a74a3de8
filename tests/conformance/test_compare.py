"""The comparison itself: it must see what it is there to see."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from tests.conformance.case import METRICS, WEIGHTS, Limits
from tests.conformance.cases import BY_NAME
from tests.conformance.compare import compare, relative
from tests.conformance.judge import judge
from tests.conformance.record import Record

_RECORD = Record(
    variables=[("kernel", np.array([1.0, -2.0])), ("bias", np.zeros(2))],
    iterations=[21],
    logs={"loss": np.array([0.5, 0.4])},
    predictions=[np.ones((2, 1))],
)


def _but(**changes: Any) -> Record:
    return dataclasses.replace(_RECORD, **changes)


def test_a_record_equals_itself() -> None:
    assert compare(_RECORD, _RECORD).complaints(Limits()) == []


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        (_but(variables=[("kernel", np.array([1.0, -2.0001])), ("bias", np.zeros(2))]), "0 kernel"),
        (_but(variables=[("kernel", np.array([1.0, np.nan])), ("bias", np.zeros(2))]), "by nan"),
        (_but(variables=_RECORD.variables[:1]), "variables are"),
        (_but(iterations=[24]), r"iterations is \[24\], not \[21\]"),
        (_but(logs={"loss": np.array([0.5, 0.40001])}), "logs loss differs"),
        (_but(logs={}), "logs are"),
        (_but(predictions=[np.ones((4, 1))]), r"has shape \(4, 1\), not \(2, 1\)"),
        (_but(spread=1e-3), "copies of a variable differ"),
    ],
)
def test_a_difference_is_told(record: Record, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        raise AssertionError("\n".join(compare(_RECORD, record).complaints(Limits())))


def test_differences_are_relative_to_the_largest_value() -> None:
    assert relative([100.0, 0.0], [100.0, 1e-3]) == pytest.approx(1e-5)
    assert relative([0.0], [1e-3]) == pytest.approx(1e-3)
    assert np.isnan(relative([1.0], [np.nan]))
    assert relative([np.nan, 1.0], [np.nan, 1.0]) == 0


def test_the_tasks_of_a_job_must_not_differ_in_a_bit() -> None:
    other = _but(logs={"loss": np.array([0.5, 0.4 + 1e-12])})
    row = judge(BY_NAME["SGD"], "multi_worker", _RECORD, [_RECORD, other])
    assert row.wrong[0].startswith("task 1 differs from task 0")


def test_wider_limits_need_a_reason() -> None:
    with pytest.raises(ValueError, match="need a reason"):
        Limits(WEIGHTS * 10, METRICS)
