"""What TensorFlow says of a lost worker is left out only where tfdist has said it."""

import logging

import pytest

from tfdist.factory import quieter
from tfdist.factory.quieter import SaidBetter


class Stands:
    def __init__(self, missing):
        self.missing = missing


@pytest.mark.parametrize(
    ("message", "missing", "shown"),
    [
        ("Worker %s failed with %r:%s", {"worker 1": "is lost"}, False),
        ("Worker %s failed with %r:%s", {}, True),
        ("Something else", {"worker 1": "is lost"}, True),
    ],
)
def test_what_is_shown(message, missing, shown, monkeypatch):
    monkeypatch.setattr(quieter, "_HEAR_SECONDS", 0.1)
    record = logging.LogRecord("tensorflow", logging.ERROR, "", 1, message, ("a", "b", "c"), None)
    assert SaidBetter(Stands(missing)).filter(record) == shown
