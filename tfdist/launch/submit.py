"""Give the tasks to a scheduler, or print what it would be given."""

import shlex
import shutil
import signal
import subprocess
import sys
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tfdist.cluster.variables import environment
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.launch import keeper, kubernetes, slurm
from tfdist.launch.settings import Settings
from tfdist.launch.signals import Signals


def submit(settings: Settings, command: Sequence[str]) -> int:
    """Submit the job, or with `dry_run` print it; inside of a Slurm allocation run its step.

    Returns:
        The exit code of the scheduler's own command.

    Raises:
        UsageError: that command is not on this machine.
    """
    if settings.submit == "kubernetes":
        return _give(
            ["kubectl", "create", "-f", "-"], kubernetes.manifest(settings, command), settings
        )
    if "SLURM_JOB_ID" in environment():
        return _step(settings, command)
    return _give(["sbatch"], slurm.batch_script(settings, command), settings)


def _give(program: list[str], text: str, settings: Settings) -> int:
    if settings.dry_run:
        sys.stdout.write(text)
        return EXIT_DONE
    _check_is_there(program[0])
    return subprocess.run(program, input=text, text=True).returncode


def _step(settings: Settings, command: Sequence[str]) -> int:
    cause = Path.cwd() / f".tfdist-{environment()['SLURM_JOB_ID']}-{uuid.uuid4().hex[:8]}"
    words = slurm.step(settings, command, cause)
    if settings.dry_run:
        sys.stdout.write(shlex.join(words) + "\n")
        return EXIT_DONE
    _check_is_there("srun")
    with Signals() as signals:
        code = slurm.first_code(_until_asked(words, settings.grace_seconds, signals), cause)
        signals.end_as_asked()
    return code


def _until_asked(words: Sequence[str], grace_seconds: float, signals: Signals) -> int:
    """Run srun, which ends its tasks on SIGTERM, and return its exit code."""
    end_too = partial(keeper.die_with_parent, signal.SIGTERM)
    with subprocess.Popen(words, start_new_session=True, preexec_fn=end_too) as srun:
        while srun.poll() is None and not signals.received:
            signals.wait(0.1)
        if signals.received:
            srun.terminate()
        try:
            return srun.wait(grace_seconds)
        except subprocess.TimeoutExpired:
            srun.kill()
            return srun.wait()


def _check_is_there(program: str) -> None:
    if shutil.which(program) is None:
        raise UsageError(
            f"{program!r} is not on this machine: submit where it is, or see the job with --dry_run"
        )
