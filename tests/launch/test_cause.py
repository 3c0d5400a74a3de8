"""The first rank that fails under mpirun or srun, as its link tells."""

import os
import signal
import subprocess

import pytest

from tfdist.cluster import Task
from tfdist.launch.cause import first_ended, shell
from tfdist.launch.ended import Ended

TASKS = [Task("chief", 0), Task("worker", 0), Task("worker", 1)]
RANK = shell("$RANK", "$HOST")


def starter(code, was_stopped=False):
    return Ended(Task("worker", 0), code, was_stopped)


def test_the_first_failure_is_that_of_the_group(tmp_path):
    link = tmp_path / "cause"
    codes = [
        subprocess.run(
            [*RANK, link, "sh", "-c", f"exit {code}"],
            env={**os.environ, "RANK": str(rank), "HOST": "n2"},
            timeout=20,
        ).returncode
        for rank, code in enumerate((0, 3, 143))
    ]
    assert codes == [0, 3, 143]
    assert first_ended(starter(143), link, TASKS) == Ended(Task("worker", 0), 3, host="n2")
    assert not link.is_symlink()


@pytest.mark.parametrize(
    ("ended", "told", "hosts", "cause"),
    [
        (starter(0), "1 3 n2", [], Ended(TASKS[0], 0)),
        (starter(-15, was_stopped=True), "1 143 n2", [], Ended(TASKS[0], -15, was_stopped=True)),
        (starter(5), None, ["h1", "h1", "h2"], Ended(TASKS[0], 5)),
        (starter(1), "2 137", ["h1", "h1", "h2"], Ended(TASKS[2], -9, host="h2")),
        (starter(1), "2 137", [], Ended(TASKS[2], -9)),
    ],
)
def test_what_is_told_of_it(tmp_path, ended, told, hosts, cause):
    link = tmp_path / "cause"
    if told:
        link.symlink_to(told)
    assert first_ended(ended, link, TASKS, hosts) == cause


def test_a_rank_ends_in_its_own_time_after_sigterm(tmp_path):
    ends_late = "trap 'sleep 0.2; exit 5' TERM; echo up; while :; do sleep 0.1; done"
    assert asked_to_end(ends_late, tmp_path / "cause") == 5
    assert (tmp_path / "cause").is_symlink()


def test_a_rank_that_is_made_to_end_is_no_cause(tmp_path):
    assert asked_to_end("echo up; exec sleep 60", tmp_path / "cause") == 143
    assert not (tmp_path / "cause").is_symlink()


def asked_to_end(script, link):
    """The code of a rank that is sent SIGTERM, as a whole, when it is up."""
    with subprocess.Popen(
        [*RANK, link, "sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True
    ) as task:
        assert task.stdout.readline() == b"up\n"
        os.killpg(task.pid, signal.SIGTERM)
        return task.wait(20)
