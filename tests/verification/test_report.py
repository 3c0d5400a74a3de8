"""Differences, and how they are shown."""

import json
import math

import numpy as np
import pytest

from tfdist.verification.compare import beside_rounding, relative
from tfdist.verification.report import Cause, Comparison, Report, Row

ROWS = (
    Row("log", "loss", 2e-6, 1e-6, 1.0, 1.000002),
    *(Row("layer", f"dense_{i}", i * 1e-6, 1e-5) for i in range(12)),
    Row("layer", "late", math.inf, 1e-5),
    Row("count", "optimizer steps", 0, 0, 20, 20),
)
REPORT = Report(
    "different",
    "mirrored",
    2,
    1,
    (16, 16, 15),
    (Comparison("as it is", ROWS, 0.25),),
    (Cause(False, "something is wrong", "mend it", 0.5),),
)
SHOWN = """\
mirrored, 2 replicas, against plain Keras on one device: 3 steps of 16 examples, the last of 15

as it is           one device  mirrored  difference
  loss                      1         1     2.0e-06  differs
  layer late                                    inf  differs
  layer dense_11                            1.1e-05  differs
  layer dense_10                            1.0e-05  {10}
  layer dense_9                             9.0e-06
  layer dense_8                             8.0e-06
  layer dense_7                             7.0e-06
  layer dense_6                             6.0e-06
  layer dense_5                             5.0e-06
  optimizer steps          20        20           0
  and 5 layers more, up to 4.0e-06
  another order of the rows moves one device by 2.5e-01

fault: something is wrong
  remedy: mend it

verdict: different: the numbers are not those of one device"""


def test_the_table():
    mark = "differs" if 10 * 1e-6 > 1e-5 else ""
    expected = [line.rstrip() for line in SHOWN.replace("{10}", mark).splitlines()]
    assert str(REPORT).splitlines() == expected


def test_json_has_every_field_and_no_infinity():
    found = json.loads(REPORT.as_json())
    assert found["is_equal"] is False
    assert found["comparisons"][0]["rows"][13]["difference"] is None
    assert found["causes"][0] == {
        "by_design": False,
        "what": "something is wrong",
        "remedy": "mend it",
        "factor": 0.5,
    }


@pytest.mark.parametrize(
    ("expected", "value", "difference"),
    [
        ([2.0, 4.0], [2.0, 5.0], 0.25),
        ([0.0], [1e-9], 1e-9),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([np.nan, 1.0], [1.0, 1.0], np.inf),
        ([1.0, 2.0], [1.0], np.inf),
    ],
)
def test_relative_differences(expected, value, difference):
    assert relative(np.array(expected), np.array(value)) == pytest.approx(difference)


def test_limits_beside_rounding():
    moved = Comparison("", (Row("log", "loss", 1e-6, 1e-6), Row("layer", "a", 1e-4, 1e-5)))
    found = Comparison("", (Row("log", "loss", 4e-6, 1e-6), Row("layer", "a", 6e-4, 1e-5)))
    widened = beside_rounding(found, moved)
    assert [row.is_equal for row in widened.rows] == [True, False]
    assert widened.rounding == 1e-4
