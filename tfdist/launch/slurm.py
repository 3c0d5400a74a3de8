"""The tasks as a step of Slurm, in a batch script.

Each task finds its cluster by itself, from the variables that srun sets and TFDISTTASKS.
Options: https://slurm.schedmd.com/sbatch.html and https://slurm.schedmd.com/srun.html
"""

import os
import shlex
import sys
from collections.abc import Sequence

from tfdist.cluster.environments.layout import TASKS
from tfdist.errors import EXIT_AGAIN
from tfdist.launch import cause
from tfdist.launch.settings import Settings

# srun ends the others when a task fails: "--kill-on-bad-exit", which many sites have off.
SRUN = ("srun", "--kill-on-bad-exit=1", "--label")
TASK = cause.shell("$SLURM_PROCID", "$SLURMD_NODENAME")


def batch_script(settings: Settings, command: Sequence[str]) -> str:
    """Return the text for sbatch, to be run in this folder unless its options name another."""
    asked = shlex.split(settings.submit_options or "")
    elsewhere = any(word.startswith(("--chdir", "-D")) for word in asked)
    options = [
        f"--job-name={settings.job_name}",
        f"--ntasks={size(settings)}",
        *([] if elsewhere else [f"--chdir={os.getcwd()}"]),
        *([f"--output={os.path.abspath(settings.log_dir)}/%j.log"] if settings.log_dir else []),
        *(["--requeue"] if settings.max_restarts else []),
        *asked,
    ]
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {_quoted(option)}" for option in options),
        f"export {TASKS}={tasks(settings)}",
        'cause="$PWD/.tfdist-$SLURM_JOB_ID"',
        f'{shlex.join([*SRUN, *TASK])} "$cause" {shlex.join(interpreted(command))}',
        "code=$?",
        'if [ "$code" -ne 0 ] && told=$(readlink "$cause")',
        'then read -r rank code host <<< "$told"',
        'echo "task $rank on $host failed first, with exit code $code" >&2',
        "fi",
        'rm -f "$cause"',
        *_again(settings.max_restarts),
        'exit "$code"',
    ]
    return "\n".join(lines) + "\n"


def _again(max_restarts: int) -> list[str]:
    if not max_restarts:
        return []
    return [
        f'if [ "$code" -eq {EXIT_AGAIN} ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {max_restarts} ]',
        'then scontrol requeue "$SLURM_JOB_ID"',
        "fi",
    ]


def size(settings: Settings) -> int:
    """Return the number of tasks."""
    return sum(settings.sizes.values())


def tasks(settings: Settings) -> str:
    """Return how many there are of each kind, as the tasks read it."""
    return ",".join(f"{job}={size}" for job, size in settings.sizes.items())


def interpreted(command: Sequence[str]) -> list[str]:
    """Return a command, with this Python before one that is only its arguments."""
    return [sys.executable, *command] if command[0].startswith("-") else list(command)


def _quoted(option: str) -> str:
    # sbatch takes words apart at spaces, and knows double quotes.
    return f'"{option}"' if " " in option else option
