"""The tasks as a step of Slurm, in a batch script or inside of an allocation.

Each task finds its cluster by itself, from the variables that srun sets and TFDIST_TASKS.
Options: https://slurm.schedmd.com/sbatch.html and https://slurm.schedmd.com/srun.html
"""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from tfdist.cluster.environments.layout import TASKS
from tfdist.errors import EXIT_AGAIN
from tfdist.launch.settings import Settings

# srun ends the others when a task fails: "--kill-on-bad-exit", which many sites have off. Its own
# exit code is then that of those (143), so each task leaves its code, if it is the first to fail,
# as a link in the shared folder. The trap lets a task end in its own time after SIGTERM.
_SRUN = ("srun", "--kill-on-bad-exit=1", "--label")
_TASK = 'trap : TERM; "$@" || { code=$?; ln -s "$code" "$0" 2>/dev/null; exit "$code"; }'


def batch_script(settings: Settings, command: Sequence[str]) -> str:
    """Return the text for sbatch, to be run in this folder."""
    options = [
        f"--job-name={settings.job_name}",
        f"--ntasks={_size(settings)}",
        f"--chdir={os.getcwd()}",
        *([f"--output={os.path.abspath(settings.log_dir)}/%j.log"] if settings.log_dir else []),
        *(["--requeue"] if settings.max_restarts else []),
        *shlex.split(settings.submit_options or ""),
    ]
    lines = [
        "#!/bin/bash",
        *(f"#SBATCH {_quoted(option)}" for option in options),
        f"export {TASKS}={_tasks(settings)}",
        'cause="$PWD/.tfdist-$SLURM_JOB_ID"',
        f'{shlex.join([*_SRUN, "sh", "-c", _TASK])} "$cause" {shlex.join(_interpreted(command))}',
        "code=$?",
        '[ "$code" -eq 0 ] || code=$(readlink "$cause" || echo "$code")',
        'rm -f "$cause"',
        *_again(settings.max_restarts),
        'exit "$code"',
    ]
    return "\n".join(lines) + "\n"


def step(settings: Settings, command: Sequence[str], cause: Path) -> list[str]:
    """Return the words that run the tasks as a step of this allocation.

    Args:
        settings: How many tasks.
        command: What each runs.
        cause: A file in a folder that all nodes have; see `first_code`.
    """
    options = [f"--ntasks={_size(settings)}", *shlex.split(settings.submit_options or "")]
    # Not by --export, which would take the place of all that the user exports.
    tasks = f"{TASKS}={_tasks(settings)}"
    task = ["sh", "-c", _TASK, str(cause)]
    return [*_SRUN, *options, "env", tasks, *task, *_interpreted(command)]


def first_code(code: int, cause: Path) -> int:
    """Return the exit code of the first task that failed, or srun's `code` if none left it."""
    try:
        return int(os.readlink(cause)) if code else code
    except (OSError, ValueError):
        return code
    finally:
        cause.unlink(missing_ok=True)


def _again(max_restarts: int) -> list[str]:
    if not max_restarts:
        return []
    return [
        f'if [ "$code" -eq {EXIT_AGAIN} ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt {max_restarts} ]',
        'then scontrol requeue "$SLURM_JOB_ID"',
        "fi",
    ]


def _size(settings: Settings) -> int:
    return sum(settings.sizes.values())


def _tasks(settings: Settings) -> str:
    return ",".join(f"{job}={size}" for job, size in settings.sizes.items())


def _interpreted(command: Sequence[str]) -> list[str]:
    return [sys.executable, *command] if command[0].startswith("-") else list(command)


def _quoted(option: str) -> str:
    # sbatch takes words apart at spaces, and knows double quotes.
    return f'"{option}"' if " " in option else option
