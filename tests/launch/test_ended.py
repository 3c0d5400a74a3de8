"""Which task is the cause, and what follows from it."""

import pytest

from tfdist.cluster import Task
from tfdist.launch.ended import Ended, describe, exit_code, first_failure, may_start_again

A, B, C = (Task("worker", index) for index in range(3))
CAUSES = {
    "all ended well": ([Ended(A, 0), Ended(B, 0)], None),
    "the first failure": ([Ended(A, 0), Ended(B, 3), Ended(C, 1)], B),
    "not who was stopped": ([Ended(A, 3), Ended(B, -15, was_stopped=True)], A),
    "who lost another ends before it": ([Ended(A, 75), Ended(B, 1)], B),
    "who lost a killed one": ([Ended(A, 75), Ended(B, -9)], B),
    "all lost each other": ([Ended(A, 75), Ended(B, 75)], A),
    "lost, and the rest was stopped": ([Ended(A, 75), Ended(B, -15, was_stopped=True)], A),
    "the time was over": ([Ended(A, 0), Ended(B, -15, was_stopped=True)], B),
}


@pytest.mark.parametrize("name", CAUSES)
def test_first_failure(name):
    ended, cause = CAUSES[name]
    found = first_failure(ended)
    assert (found and found.task) == cause


@pytest.mark.parametrize(
    ("code", "ends_with", "again", "said"),
    [
        (1, 1, False, "exit code 1"),
        (2, 2, False, "exit code 2"),
        (75, 75, True, "exit code 75"),
        (-9, 137, True, "killed by SIGKILL"),
        (-11, 139, True, "killed by SIGSEGV"),
        (-63, 191, True, "killed by signal 63"),
    ],
)
def test_what_follows(code, ends_with, again, said):
    ended = Ended(A, code)
    assert (exit_code(ended), may_start_again(ended), describe(ended)) == (ends_with, again, said)


def test_no_failure_is_0_and_who_was_stopped_is_not_started_again():
    assert exit_code(None) == 0
    assert not may_start_again(Ended(A, -15, was_stopped=True))


def test_a_lost_connection_may_come_back_and_a_local_255_is_what_it_is():
    lost = Ended(A, 255, host="h2", by_ssh=True)
    assert may_start_again(lost)
    assert describe(lost) == "exit code 255, which is also that of ssh when it loses the connection"
    assert (may_start_again(Ended(A, 255)), describe(Ended(A, 255))) == (False, "exit code 255")
