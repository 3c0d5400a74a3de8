"""The keeper by itself: what it offers, and that a task ends with its launcher."""

import contextlib
import json
import signal
import socket
import subprocess
import sys

import psutil
import pytest

from tests.launch.launching import DEAF, left
from tfdist.cluster import Task
from tfdist.cluster.ports import hold_port
from tfdist.launch import keeper
from tfdist.launch.hosts import THIS_MACHINE

SLEEPS = "import os, time; print('pid', os.getpid(), flush=True); time.sleep(600)"


@contextlib.contextmanager
def kept(code, port=None, **order):
    """A keeper, what it offers, and its task once that has said its number."""
    with subprocess.Popen(
        THIS_MACHINE.keeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as process:
        try:
            process.stdin.write(json.dumps({"port": port}).encode() + b"\n")
            offer = json.loads(process.stdout.readline()[len(keeper.MARK) :])
            if code is None:
                yield process, offer
                return
            process.stdin.write(json.dumps(an_order(code, **order)).encode() + b"\n")
            yield process, psutil.Process(int(process.stdout.readline().split()[1]))
        finally:
            process.kill()


def an_order(code, **changes):
    return {
        "command": [sys.executable, "-c", code],
        "folder": "/",
        "variables": {},
        "without": ["TF_"],
        "grace_seconds": 0.3,
        "silence_seconds": None,
        "is_remote": False,
        **changes,
    }


def test_the_port_is_kept_from_others_and_free_for_the_task():
    with kept(None) as (_, first), kept(None, port=first["port"]) as (_, second):
        assert second["port"] is None
        assert first["cores"] >= 1
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("", first["port"]))
        hold_port(Task("worker", 0), f"127.0.0.1:{first['port']}").close()


def test_without_an_order_it_ends():
    with kept(None) as (process, _):
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.parametrize("code", [SLEEPS, DEAF])
def test_the_task_ends_with_the_launcher(code):
    with kept(code) as (process, task):
        process.stdin.close()
        assert left([task]) == []
        assert process.wait(10) == (-signal.SIGTERM if code == SLEEPS else -signal.SIGKILL)


def test_a_silent_launcher_counts_as_gone():
    with kept(SLEEPS, silence_seconds=0.5) as (process, task):
        assert left([task]) == []
        assert process.wait(10) == -signal.SIGTERM


def test_a_launcher_that_beats_is_there():
    with kept(SLEEPS, silence_seconds=1) as (process, task):
        for _ in range(4):
            assert left([task], 0.5) == [task]
            process.stdin.write(keeper.BEAT)


def test_it_ends_its_task_when_it_is_asked_to_end_itself():
    with kept(SLEEPS) as (process, task):
        process.send_signal(signal.SIGTERM)
        assert left([task]) == []


@pytest.mark.parametrize(("is_remote", "code"), [(False, -signal.SIGSEGV), (True, 128 + 11)])
def test_a_signal_is_told(is_remote, code):
    ends = "import os; os.kill(os.getpid(), 11)"
    with subprocess.Popen(THIS_MACHINE.keeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as it:
        request = json.dumps({"port": None}) + "\n"
        it.stdin.write((request + json.dumps(an_order(ends, is_remote=is_remote)) + "\n").encode())
        it.stdin.flush()
        assert it.wait(10) == code


def test_a_program_that_is_not_there():
    request = json.dumps({"port": None}) + "\n"
    order = json.dumps(an_order("", command=["no-such-program"])) + "\n"
    done = subprocess.run(
        THIS_MACHINE.keeper, input=(request + order).encode(), capture_output=True, timeout=10
    )
    assert done.returncode == 127
    assert b"no-such-program: No such file or directory" in done.stderr
