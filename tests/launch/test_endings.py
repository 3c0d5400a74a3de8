"""How a launched group ends: the cause, restarts, signals, and nothing left behind."""

import signal
import subprocess
import time

import psutil
import pytest

from tests.launch.launching import (
    DEAF,
    ROLE,
    WITH_CHILD,
    environment,
    launch,
    launched,
    left,
    seconds_of,
    words,
)
from tests.launch.training import TRAIN

FAILS = (
    ROLE
    + """
if ROLE != "worker 1": time.sleep(600)
for line in range(30): print("line", line)
"""
)
# Fails in its first life, in a way that the test puts in, and not in its second.
ONCE = (
    ROLE
    + """
mark = os.environ["MARK"]
print("port", json.loads(os.environ["TF_CONFIG"])["cluster"], flush=True)
if not os.path.exists(mark):
    if ROLE == "worker 1": time.sleep(600)
    open(mark, "w").close()
    FAILURE
"""
)
# As Python starts: Ctrl-C comes in the middle of an import.
CTRL_C_AT_IMPORT = """
import os, signal, sys

class Finder:
    def find_spec(self, name, *_):
        if name == os.environ["LOADING"]: os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("sys.exit(3)", 3, "exit code 3"),
        ("1 / 0", 1, "exit code 1"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "killed by SIGKILL"),
        ("os.abort()", 134, "killed by SIGABRT"),
    ],
)
def test_the_first_failure_is_told_and_gives_the_exit_code(end, code, said):
    done = launch(FAILS + f"sys.stdout.flush()\n{end}", "--workers=3")
    assert done.returncode == code
    told = [line for line in done.stderr.splitlines() if line.startswith("[launcher]")]
    assert told[1].startswith(
        f"[launcher] worker 1 on this machine failed: {said}. Its last lines,"
    )
    assert told[1].endswith("worker-1.log:")
    assert "[launcher]   | line 29" in told
    assert "[launcher]   | line 0" not in told


def test_who_lost_another_and_ends_before_it_is_not_the_cause():
    code = ROLE + "time.sleep(0.5 * task['index']); sys.exit(1 if task['index'] else 75)"
    done = launch(code, "--workers=2", "--max_restarts=3")
    assert done.returncode == 1
    assert "worker 1 on this machine failed: exit code 1" in done.stderr
    assert "starting all tasks again" not in done.stderr


def test_who_serves_is_ended_when_nobody_is_left_to_serve():
    code = ROLE + "if ROLE != 'chief 0': time.sleep(600)"
    done = launch(code, "--workers=1", "--chief", "--ps=1", "--grace_seconds=0.3")
    assert (done.returncode, len(done.stderr.splitlines())) == (0, 1)


@pytest.mark.parametrize("failure", ["sys.exit(75)", "os.kill(os.getpid(), 9)"])
def test_a_group_is_started_again_on_new_ports(tmp_path, failure):
    code = ONCE.replace("FAILURE", failure)
    flags = ["--workers=2", "--max_restarts=2", f"--log_dir={tmp_path}"]
    done = launch(code, *flags, env={"MARK": f"{tmp_path}/mark"})
    assert done.returncode == 0
    assert "starting all tasks again in 1 s (restart 1 of 2)" in done.stderr
    first, second = (line for line in done.stdout.splitlines() if line.startswith("[worker 0]"))
    assert first != second
    kept = (tmp_path / "worker-0.log").read_text().splitlines()
    assert "[launcher] starting all tasks again in 1 s (restart 1 of 2)" in kept
    assert sum(line.startswith("port") for line in kept) == 2


@pytest.mark.parametrize("code", [1, 2])
def test_a_bug_and_wrong_usage_are_not_tried_again(code):
    done = launch(f"raise SystemExit({code})", "--workers=2", "--max_restarts=2")
    assert done.returncode == code
    assert "starting all tasks again" not in done.stderr


def test_a_task_that_leaves_the_others_twice_is_not_tried_again():
    code = ROLE + "sys.exit(0 if ROLE == 'worker 1' else 75)"
    done = launch(code, "--workers=2", "--max_restarts=9", "--restart_seconds=0.1")
    assert done.returncode == 75
    assert done.stderr.count("failed: exit code 75") == 2
    last = done.stderr.splitlines()[-1]
    assert last == "[launcher] worker 1 has ended before the others again: no restart mends that"


def test_restarts_have_an_end():
    done = launch("raise SystemExit(75)", "--workers=1", "--max_restarts=1")
    assert done.returncode == 75
    assert done.stderr.count("failed: exit code 75") == 2


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_asked_to_end_it_kills_the_deaf_after_the_grace(number, code):
    flags = ["--workers=2", "--grace_seconds=1", "--max_restarts=3"]
    with launched(DEAF, *flags, pids=2) as (launcher, tasks):
        launcher.send_signal(number)
        assert 1 <= seconds_of(lambda: launcher.wait(20)) < 5
        assert (launcher.returncode, left(tasks, 0)) == (code, [])
        assert "asked to end: stopping all tasks" in launcher.stderr.read()


def test_a_second_ctrl_c_kills_at_once():
    with launched(DEAF, "--workers=2", "--grace_seconds=60", pids=2) as (launcher, tasks):
        launcher.send_signal(signal.SIGINT)
        assert "starting 2 tasks" in launcher.stderr.readline()
        assert "asked to end" in launcher.stderr.readline()
        assert len(left(tasks, 0.5)) == 2
        launcher.send_signal(signal.SIGINT)
        assert seconds_of(lambda: launcher.wait(20)) < 5
        assert (launcher.returncode, left(tasks, 0)) == (130, [])


def test_ctrl_c_ends_the_wait_for_a_restart():
    with launched("raise SystemExit(75)", "--workers=1", "--max_restarts=9", pids=0) as (it, _):
        for line in it.stderr:
            if "again in 2 s" in line:
                break
        it.send_signal(signal.SIGINT)
        assert seconds_of(lambda: it.wait(20)) < 1.5
        assert it.returncode == 130


@pytest.mark.parametrize("code", [WITH_CHILD, DEAF])
def test_nothing_outlives_a_killed_launcher(code):
    pids = 4 if code == WITH_CHILD else 2
    with launched(code, "--workers=2", "--grace_seconds=0.5", pids=pids) as (launcher, tasks):
        launcher.kill()
        assert left(tasks) == []


def test_nothing_outlives_a_stopped_task():
    with launched(WITH_CHILD, "--workers=1", "--grace_seconds=0.5", pids=2) as (launcher, tasks):
        tasks[0].suspend()
        launcher.send_signal(signal.SIGTERM)
        assert launcher.wait(20) == 143
        assert left(tasks) == []


def test_nothing_is_left_of_what_a_task_started():
    done = launch(WITH_CHILD.removesuffix("time.sleep(600)\n"), "--workers=1")
    assert done.returncode == 0
    pids = [int(line.split()[-1]) for line in done.stdout.splitlines()]
    assert len(pids) == 2
    assert left([psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)], 5) == []


def test_a_killed_keeper_takes_its_task_along():
    with launched(DEAF, "--workers=2", "--grace_seconds=0.5", pids=2) as (launcher, tasks):
        psutil.Process(tasks[1].ppid()).kill()
        assert launcher.wait(20) == 137
        assert left(tasks) == []


def test_a_reader_who_has_had_enough_ends_all():
    chatter = (
        "import os\nprint('pid', os.getpid(), flush=True)\nwhile True: print('more', flush=True)"
    )
    with launched(chatter, "--workers=2", "--grace_seconds=60", pids=1) as (launcher, tasks):
        launcher.stdout.close()
        assert launcher.wait(20) == 128 + signal.SIGPIPE
        assert "Traceback" not in launcher.stderr.read()
        assert left(tasks) == []


@pytest.mark.parametrize("loading", ["tfdist.launch", "tfdist.launch.group", "tfdist.run.flags"])
def test_ctrl_c_ends_a_launcher_that_is_being_loaded(tmp_path, loading):
    (tmp_path / "sitecustomize.py").write_text(CTRL_C_AT_IMPORT)
    path = f"{tmp_path}:{environment()['PYTHONPATH']}"
    done = launch("", "--workers=2", env={"PYTHONPATH": path, "LOADING": loading})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_ends_a_training_that_starts_up():
    with subprocess.Popen(
        [*words("", "--workers=2")[:-2], *TRAIN],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as launcher:
        tasks = loading(launcher)
        launcher.send_signal(signal.SIGINT)
        assert seconds_of(lambda: launcher.wait(20)) < 5
        assert (launcher.returncode, left(tasks, 1)) == (130, [])


def loading(launcher):
    """The tasks of a launcher, and their keepers, once two of them are loading TensorFlow."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        processes = psutil.Process(launcher.pid).children(recursive=True)
        if sum(map(loads, processes)) == 2:
            return processes
        time.sleep(0.05)
    raise TimeoutError("no task loads TensorFlow")


def loads(process):
    try:
        return any("libtensorflow" in each.path for each in process.memory_maps())
    except psutil.Error:
        return False
