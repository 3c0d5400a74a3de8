import atexit
import os
import sys

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.errors import FailedError, StartAgainError, UsageError
from tfdist.factory.ending import Ending, end_with_code_of_error

WORKERS = Cluster({"worker": {0: "localhost:2000", 1: "localhost:2001"}}, Task("worker", 1))
WITH_PS = Cluster(
    {"chief": {0: "localhost:2000"}, "worker": {0: "localhost:2001"}, "ps": {0: "localhost:2002"}},
    Task("chief", 0),
)


class Line:
    """A channel that remembers what was said."""

    def __init__(self):
        self.said = []

    def fail(self, reason):
        self.said.append(reason)

    def finish(self, code):
        self.said.append(code)

    def close(self):
        self.said.append("bye")


@pytest.fixture
def end(monkeypatch, capsys):
    """Ends the interpreter of a task, by an exception or without one; gives what was said."""

    def end(cluster, error=None, told=None):
        line, at_exit, shown = Line(), [], []
        monkeypatch.setattr(sys, "excepthook", lambda *raised: shown.append(raised[1]))
        monkeypatch.setattr(atexit, "register", at_exit.append)
        monkeypatch.setattr(atexit, "_run_exitfuncs", lambda: [each() for each in at_exit])
        monkeypatch.setattr(os, "_exit", lambda code: line.said.append(f"ends with {code}"))
        end_with_code_of_error.__wrapped__()
        ending = Ending(cluster, line)
        if told is not None:
            ending.tell(told)
        if error is not None:
            sys.excepthook(type(error), error, None)
        for function in at_exit:
            function()
        told = isinstance(error, (UsageError, StartAgainError, FailedError))
        assert shown == ([] if error is None or told else [error])
        assert capsys.readouterr().err == (f"{error}\n" if told else "")
        return line.said

    return end


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, [0, "bye"]),
        (ValueError("no"), ["ValueError: no", 1]),
        (KeyboardInterrupt(), ["KeyboardInterrupt: ", 1]),
        (FailedError("no"), ["FailedError: no", 1]),
        (UsageError("no"), ["UsageError: no", 2, "ends with 2"]),
        (StartAgainError("lost"), ["StartAgainError: lost", 75, "ends with 75"]),
    ],
)
def test_servers_are_told_the_code_and_it_is_the_process_s_own(end, error, said):
    assert end(WITH_PS, error) == said


@pytest.mark.parametrize(
    ("error", "said"), [(None, ["bye"]), (ValueError("no"), ["ValueError: no"])]
)
def test_a_worker_that_fails_is_lost_to_the_others(end, error, said):
    assert end(WORKERS, error) == said


def test_a_code_told_before_the_end_stands(end):
    assert end(WITH_PS, told=3) == [3]
