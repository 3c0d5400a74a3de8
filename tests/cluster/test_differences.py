"""The first thing in which two tasks differ."""

import pytest

from tfdist.cluster.differences import first_difference

TABLE = [
    ({"a": 1}, {"a": 1}, None),
    ({"a": 1, "b": 2}, {"b": 3, "a": 2}, ("a", "1", "2")),
    ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, ("a.b", "[1, 2]", "[1, 3]")),
    ({"a": 1}, {}, ("a", "1", "absent")),
    ({}, {"a": None}, ("a", "absent", "null")),
    ({"a": "1"}, {"a": 1}, ("a", '"1"', "1")),
    ({"a": True}, {"a": 1}, ("a", "true", "1")),
    ({"a": {"b": 1}}, {"a": 5}, ("a", '{"b": 1}', "5")),
    ({"a": 1}, None, ("", '{"a": 1}', "null")),
    ({"a": "x" * 300}, {"a": 1}, ("a", '"' + "x" * 199 + "...", "1")),
]


@pytest.mark.parametrize(("ours", "theirs", "found"), TABLE)
def test_first_difference(ours, theirs, found):
    assert first_difference(ours, theirs) == found
