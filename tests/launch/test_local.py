"""Real processes: started together, ended together, none left."""

import json
import signal
import subprocess
import sys

import psutil
import pytest

from tfdist.cluster import Task
from tfdist.launch import Ended, first_failure, run_local, show

WORKERS = [Task("worker", 0), Task("worker", 1)]
# Waits for ever, and says so once nothing but SIGKILL can end it.
DEAF = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("deaf", flush=True)
while True: time.sleep(60)
"""
# Ends in the way of worker 1, if it is worker 1, and else waits for ever.
ONE_FAILS = """
import json, os, sys, time
if json.loads(os.environ["TF_CONFIG"])["task"]["index"] == 1:
    sys.stderr.write("x" * 50_000 + "\\nlast words")
    sys.exit(3)
while True: time.sleep(60)
"""
LAUNCHER = """
import os, sys
from tfdist.launch import run_local
code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
run_local([sys.executable, "-c", code], {"worker": 2}, grace_seconds=5)
"""


def run(code, sizes, **options):
    heard = []
    ended = run_local(
        [sys.executable, "-c", code],
        sizes,
        heard=lambda *line: heard.append(line),
        **{"timeout_seconds": 30, **options},
    )
    return ended, heard


def test_every_task_gets_its_place_and_is_heard():
    ended, heard = run("import os; print(os.environ['TF_CONFIG'])", {"worker": 2})
    assert sorted(ended, key=lambda each: each.task.index) == [Ended(t, 0) for t in WORKERS]
    assert first_failure(ended) is None
    configs = {task: json.loads(line) for task, stream, line in heard if stream == "stdout"}
    assert {task: config["task"] for task, config in configs.items()} == {
        task: {"type": task.type, "index": task.index} for task in WORKERS
    }
    assert configs[WORKERS[0]]["cluster"] == configs[WORKERS[1]]["cluster"]


def test_one_process_has_no_cluster(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", "that of another job")
    ended, heard = run("import os; print('TF_CONFIG' in os.environ)", {})
    assert ended == [Ended(Task("worker", 0), 0)]
    assert heard == [(Task("worker", 0), "stdout", "False")]


def test_the_first_failure_stops_the_rest_and_its_last_words_are_heard():
    ended, heard = run(ONE_FAILS, {"worker": 2})
    assert ended == [Ended(WORKERS[1], 3), Ended(WORKERS[0], -signal.SIGTERM, was_stopped=True)]
    assert first_failure(ended) == ended[0]
    assert heard == [
        (WORKERS[1], "stderr", "x" * 50_000),
        (WORKERS[1], "stderr", "last words"),
    ]


def test_who_is_deaf_to_sigterm_is_killed_when_the_time_is_over():
    ended, heard = run(DEAF, {"worker": 1}, timeout_seconds=2, grace_seconds=0.2)
    assert ended == [Ended(WORKERS[0], -signal.SIGKILL, was_stopped=True)]
    assert first_failure(ended) == ended[0]
    assert heard == [(WORKERS[0], "stdout", "deaf")]


def test_an_error_while_listening_leaves_no_process():
    pids = []

    def fail(task, stream, line):
        pids.append(int(line))
        raise ZeroDivisionError

    code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with pytest.raises(ZeroDivisionError):
        run_local([sys.executable, "-c", code], {"worker": 1}, heard=fail)
    assert not psutil.pid_exists(pids[0])


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGTERM, 128 + signal.SIGTERM),
        (signal.SIGINT, -signal.SIGINT),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_no_task_outlives_the_launcher(number, code):
    with subprocess.Popen(
        [sys.executable, "-c", LAUNCHER], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as launcher:
        pids = [int(launcher.stdout.readline().split()[-1]) for _ in range(2)]
        tasks = [psutil.Process(pid) for pid in pids]
        launcher.send_signal(number)
        assert psutil.wait_procs(tasks, timeout=20)[1] == []
        launcher.communicate(timeout=20)
    assert launcher.returncode == code


def test_a_line_is_shown_with_its_task(capsys):
    show(WORKERS[1], "stdout", "out")
    show(WORKERS[1], "stderr", "err")
    assert capsys.readouterr() == ("[worker 1] out\n", "[worker 1] err\n")


def test_imports_no_tensorflow():
    code = "import sys, tfdist.launch; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout == "False\n"
