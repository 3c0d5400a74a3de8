"""Functions on real tasks; training on two workers is what the notebooks do."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from tests.processes import _environment
from tfdist.errors import UsageError
from tfdist.notebook import run

WAITS = """
import os, sys, time
from tfdist.notebook import run

def wait():
    print("pid", os.getpid(), flush=True)
    time.sleep(600)

try:
    run(wait, workers=1)
except KeyboardInterrupt:
    print("tensorflow" in sys.modules, flush=True)
"""


def test_the_exception_of_a_task_is_shown_as_itself_and_the_next_call_works(capsys):
    def fails_on_one():
        import json
        import os

        task = json.loads(os.environ["TF_CONFIG"])["task"]
        if task["index"] == 1:
            raise KeyError("of my own")

    before = dict(os.environ)
    with pytest.raises(KeyError, match="of my own") as caught:
        run(fails_on_one, timeout_seconds=120)
    assert "in worker 1:" in str(caught.value.__cause__)
    found = run(
        lambda x: __import__("sys").stdout.write("hello\n") and x + 1,
        workers=1,
        args=(1,),
        timeout_seconds=120,
    )
    assert (found.value, found.history, found.weights) == (2, {}, [])
    assert "[worker 0] hello\n" in capsys.readouterr().out
    assert dict(os.environ) == before


def test_an_interrupt_ends_the_tasks_alone():
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], stdout=subprocess.PIPE, text=True, env=_environment()
    ) as process:
        try:
            child = psutil.Process(int(process.stdout.readline().split()[-1]))
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[0] == "False\n"
            assert psutil.wait_procs([child], timeout=10)[1] == []
        finally:
            process.kill()


def test_what_is_no_function():
    with pytest.raises(UsageError, match=r"run\(\) was given int, but a function is expected"):
        run(3)


@pytest.mark.parametrize(("name", "value"), [("workers", 0), ("ps", -1), ("workers", "2")])
def test_wrong_numbers(name, value):
    with pytest.raises(UsageError, match=f"{name} is {value!r}, but must be a whole number"):
        run(print, **{name: value})
