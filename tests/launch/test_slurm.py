"""Batch scripts and steps of Slurm; its commands are stand-ins that note their words."""

import os
import shlex
import subprocess
import sys

import pytest

from tests.launch.launching import environment
from tfdist.launch.slurm import TASK

PYTHON = sys.executable
FLAGS = ["--workers=2", "--chief", "--ps=1", "--submit=slurm"]
TASKS = "chief=1,worker=2,ps=1"


@pytest.fixture
def programs(tmp_path):
    """A folder of stand-ins: each writes its words to NAME.said; srun ends with $CODE."""
    for name in ("sbatch", "srun", "scontrol"):
        file = tmp_path / name
        file.write_text(
            f'#!/bin/sh\nfor word in "$@"; do echo "$word"; done > {file}.said\n'
            f'[ {name} = sbatch ] && cat > {file}.read\necho "$TFDIST_TASKS" > {file}.tasks\n'
            f'[ {name} = srun ] && exit "${{CODE:-0}}"\nexit 0\n'
        )
        file.chmod(0o755)
    return tmp_path


def submit(*flags, command=("-m", "tfdist.train", "--a=b c"), path=None, **env):
    path = f"{path}:{os.environ['PATH']}" if path else "/nothing"
    return subprocess.run(
        [sys.executable, "-m", "tfdist.launch", *flags, "--", *command],
        capture_output=True,
        text=True,
        timeout=30,
        env=environment({"PATH": path, **env}),
    )


def test_a_batch_script_is_printed():
    flags = ["--max_restarts=3", "--submit_options=--nodes=2 --comment='a b'", "--dry_run"]
    assert submit(*FLAGS, *flags).stdout == (
        f"""#!/bin/bash
#SBATCH --job-name=tfdist
#SBATCH --ntasks=4
#SBATCH --chdir={os.getcwd()}
#SBATCH --requeue
#SBATCH --nodes=2
#SBATCH "--comment=a b"
export TFDIST_TASKS={TASKS}
cause="$PWD/.tfdist-$SLURM_JOB_ID"
srun --kill-on-bad-exit=1 --label {shlex.join(TASK)} "$cause" {PYTHON} -m tfdist.train '--a=b c'
code=$?
if [ "$code" -ne 0 ] && told=$(readlink "$cause")
then read -r rank code host <<< "$told"
echo "task $rank on $host failed first, with exit code $code" >&2
fi
rm -f "$cause"
if [ "$code" -eq 75 ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt 3 ]
then scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
"""
    )


def test_a_batch_script_is_submitted(programs, tmp_path):
    assert submit(*FLAGS, path=programs).returncode == 0
    assert (programs / "sbatch.said").read_text() == ""
    assert (programs / "sbatch.read").read_text() == submit(*FLAGS, "--dry_run").stdout


@pytest.mark.parametrize(
    ("code", "restarts", "requeued"), [(0, 0, False), (75, 0, True), (75, 2, False), (1, 0, False)]
)
def test_the_batch_script_runs(programs, code, restarts, requeued):
    script = submit(*FLAGS, "--max_restarts=2", "--dry_run").stdout
    env = {"CODE": str(code), "SLURM_RESTART_COUNT": str(restarts), "SLURM_JOB_ID": "7"}
    env["PATH"] = f"{programs}:{os.environ['PATH']}"
    done = subprocess.run(["bash"], input=script, text=True, env=environment(env), timeout=30)
    assert done.returncode == code
    assert (programs / "srun.tasks").read_text() == f"{TASKS}\n"
    assert (programs / "srun.said").read_text().splitlines()[-3:] == [
        "-m",
        "tfdist.train",
        "--a=b c",
    ]
    assert (programs / "scontrol.said").exists() == requeued


def test_inside_of_an_allocation_a_step_is_run(programs):
    done = submit(*FLAGS, path=programs, SLURM_JOB_ID="7", CODE="3")
    assert done.returncode == 3
    words = (programs / "srun.said").read_text().splitlines()
    first = ["--kill-on-bad-exit=1", "--label", "--ntasks=4", "env", f"TFDIST_TASKS={TASKS}"]
    assert words[:8] == [*first, *TASK]
    assert words[9:] == [sys.executable, "-m", "tfdist.train", "--a=b c"]


def test_without_slurm_it_is_said():
    done = submit(*FLAGS)
    assert (done.returncode, done.stderr) == (
        2,
        "'sbatch' is not on this machine: submit where it is, or see the job with --dry_run\n",
    )
