"""`python -m tfdist.launch` with real tasks: what they are given, and what is seen of them."""

import os
import subprocess
import sys

from tests.launch.launching import ROLE, environment, launch, words

HELLO = ROLE + "print(f'out of {ROLE}'); print(f'err of {ROLE}', file=sys.stderr)"


def test_output_is_shown_with_its_task_and_kept(tmp_path):
    flags = ["--workers=1", "--chief", "--ps=1", "--evaluator", f"--log_dir={tmp_path}"]
    done = launch(HELLO, *flags)
    tasks = ["chief 0", "evaluator 0", "ps 0", "worker 0"]
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == [f"[{task}] out of {task}" for task in tasks]
    said, *errors = done.stderr.splitlines()
    assert said == f"[launcher] starting 4 tasks, whose output is kept in {tmp_path}"
    assert sorted(errors) == [f"[{task}] err of {task}" for task in tasks]
    kept = {file.name: set(file.read_text().splitlines()) for file in tmp_path.iterdir()}
    assert kept == {
        f"{task.replace(' ', '-')}.log": {f"out of {task}", f"err of {task}"} for task in tasks
    }


def test_one_role_is_shown_and_all_are_kept(tmp_path):
    done = launch(HELLO, "--workers=2", "--role=chief", f"--log_dir={tmp_path}")
    assert done.stdout == "[worker 0] out of worker 0\n"
    assert "out of worker 1" in (tmp_path / "worker-1.log").read_text()


def test_colour_on_a_terminal_only():
    reader, writer = os.openpty()
    assert launch("print('hi')", "--workers=1").stdout == "[worker 0] hi\n"
    subprocess.run(
        words("print('hi')", "--workers=1"), stdout=writer, timeout=30, env=environment()
    )
    assert os.read(reader, 999) == b"\r\x1b[K\x1b[36m[worker 0]\x1b[0m hi\r\n"
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


def test_the_same_command_as_tfdist_launch():
    command = [sys.executable, "-m", "tfdist", "launch", "--workers=1", "--", "-c", "print(6 * 7)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=environment())
    assert done.stdout == "[worker 0] 42\n"


def test_imports_no_tensorflow():
    code = "import sys, tfdist.launch.__main__ as door; door.main(['--help'])"
    code += "; print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert done.stdout.endswith("False\n")


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    done = launch("", "--workers=1", f"--log_dir={tmp_path}/file")
    said = (
        f"--log_dir is '{tmp_path}/file', where nothing can be written (File exists): give another"
    )
    assert (done.returncode, done.stderr) == (2, f"{said} folder\n")
