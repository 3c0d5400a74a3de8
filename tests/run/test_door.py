"""How a command ends."""

import pytest

from tfdist import factory
from tfdist.errors import StartAgainError, UsageError
from tfdist.run.door import answer


@pytest.fixture
def told(monkeypatch):
    codes = []
    monkeypatch.setattr(factory, "finish", lambda *end: codes.append(end))
    return codes


def raising(error):
    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (UsageError("wrong"), 2, "wrong"),
        (StartAgainError("gone"), 75, ""),  # its cause is another task, and known
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_a_known_end_is_one_line_and_a_code_that_others_hear(capsys, told, error, code, reason):
    assert answer(raising(error)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"{str(error) or 'interrupted'}\n"
    assert told == [(code, reason)]


def test_a_good_end_is_told_too(told):
    assert answer(lambda: 0) == 0
    assert told == [(0, "")]


def test_a_bug_keeps_its_traceback(told):
    with pytest.raises(ZeroDivisionError):
        answer(raising(ZeroDivisionError()))
    assert told == []
