"""`python -m tfdist.launch` with real tasks: what is seen, and how it ends."""

import os
import signal
import sys

import psutil
import pytest

from tests.launch.launching import DEAF, ROLE, WITH_CHILD, launch, launched, left, seconds_of

HELLO = ROLE + "print(f'out of {ROLE}'); print(f'err of {ROLE}', file=sys.stderr)"
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
mark = os.environ["MARK"] + ROLE
print("port", json.loads(os.environ["TF_CONFIG"])["cluster"], flush=True)
if not os.path.exists(mark):
    open(mark, "w").close()
    if ROLE == "worker 0": {failure}
    time.sleep(600)
"""
)


def test_output_is_shown_with_its_task_and_kept(tmp_path):
    flags = ["--workers=1", "--chief", "--ps=1", "--evaluator", f"--log_dir={tmp_path}"]
    done = launch(HELLO, *flags)
    tasks = ["chief 0", "evaluator 0", "ps 0", "worker 0"]
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [f"[{task}] out of {task}" for task in tasks]
    assert sorted(done.stderr.splitlines()) == [f"[{task}] err of {task}" for task in tasks]
    kept = {file.name: set(file.read_text().splitlines()) for file in tmp_path.iterdir()}
    assert kept == {
        f"{task.replace(' ', '-')}.log": {f"out of {task}", f"err of {task}"} for task in tasks
    }


def test_one_role_is_shown_and_all_are_kept(tmp_path):
    done = launch(HELLO, "--workers=2", "--role=chief", f"--log_dir={tmp_path}")
    assert done.stdout == "[worker 0] out of worker 0\n"
    assert "out of worker 1" in (tmp_path / "worker-1.log").read_text()


def test_colour_on_a_terminal_only(tmp_path):
    reader, writer = os.openpty()
    with launched("print('pid', 1)", "--workers=1", pids=0) as (launcher, _):
        assert launcher.communicate(timeout=30)[0] == "[worker 0] pid 1\n"
    import subprocess

    from tests.launch.launching import environment, words

    subprocess.run(
        words("print('hi')", "--workers=1"), stdout=writer, timeout=30, env=environment()
    )
    assert os.read(reader, 999) == b"\x1b[36m[worker 0]\x1b[0m hi\r\n"
    os.close(reader)
    os.close(writer)


def test_an_evaluator_is_beside_the_cluster():
    code = ROLE + "print(list(json.loads(os.environ['TF_CONFIG'])['cluster']))"
    done = launch(code, "--workers=1", "--evaluator", "--role=evaluator")
    assert done.stdout == "[evaluator 0] ['worker']\n"


def test_a_scheduler_s_variables_do_not_reach_the_tasks():
    code = "from tfdist.cluster import resolve; print(resolve().source)"
    env = {"SLURM_JOB_ID": "1", "SLURM_STEP_NUM_TASKS": "9", "SLURM_PROCID": "0"}
    assert launch(code, "--workers=1", env=env).stdout == "[worker 0] TF_CONFIG\n"


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
    assert told[0] == f"[launcher] worker 1 on this machine failed: {said}. Its last lines:"
    assert "[launcher]   | line 29" in told
    assert "[launcher]   | line 0" not in told
    assert told[-1].endswith("worker-1.log")


def test_who_lost_another_and_ends_before_it_is_not_the_cause():
    code = ROLE + "time.sleep(0.5 * task['index']); sys.exit(1 if task['index'] else 75)"
    done = launch(code, "--workers=2", "--max_restarts=3")
    assert done.returncode == 1
    assert "worker 1 on this machine failed: exit code 1" in done.stderr
    assert "again" not in done.stderr


def test_who_serves_is_ended_when_nobody_is_left_to_serve():
    code = ROLE + "if ROLE != 'chief 0': time.sleep(600)"
    done = launch(code, "--workers=1", "--chief", "--ps=1", "--grace_seconds=0.3")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("failure", ["sys.exit(75)", "os.kill(os.getpid(), 9)"])
def test_a_group_is_started_again_on_new_ports(tmp_path, failure):
    code = ONCE.format(failure=failure)
    flags = ["--workers=2", "--max_restarts=2", f"--log_dir={tmp_path}"]
    done = launch(code, *flags, env={"MARK": f"{tmp_path}/mark "})
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
    assert "again" not in done.stderr


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
        assert "asked to end" in launcher.stderr.readline()
        assert left(tasks, 0.5) == tasks
        launcher.send_signal(signal.SIGINT)
        assert seconds_of(lambda: launcher.wait(20)) < 5
        assert (launcher.returncode, left(tasks, 0)) == (130, [])


def test_ctrl_c_ends_the_wait_for_a_restart():
    with launched("raise SystemExit(75)", "--workers=1", "--max_restarts=9", pids=0) as (it, _):
        for line in it.stderr:
            if "again in 4 s" in line:
                break
        it.send_signal(signal.SIGINT)
        assert seconds_of(lambda: it.wait(20)) < 2
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
    code = WITH_CHILD.replace("time.sleep(600)\n", "", 1)[: -len("time.sleep(600)\n")]
    with launched(code, "--workers=1", pids=2) as (launcher, _):
        assert launcher.wait(20) == 0


def test_a_killed_keeper_takes_its_task_along():
    with launched(DEAF, "--workers=2", "--grace_seconds=0.5", pids=2) as (launcher, tasks):
        psutil.Process(tasks[1].ppid()).kill()
        assert launcher.wait(20) == 137
        assert left(tasks) == []


def test_the_same_command_as_tfdist_launch():
    done = launch("", "--workers=1")
    assert done.returncode == 0
    import subprocess

    from tests.launch.launching import environment

    words = [sys.executable, "-m", "tfdist", "launch", "--workers=1", "--", "-c", "print(6 * 7)"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=environment())
    assert done.stdout == "[worker 0] 42\n"


def test_imports_no_tensorflow():
    code = "import sys, tfdist.launch.__main__ as door; door.main(['--help'])"
    code += "; print('tensorflow' in sys.modules)"
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout.endswith("False\n")
