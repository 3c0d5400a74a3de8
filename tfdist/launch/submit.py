"""Give the tasks to a scheduler, or print what it would be given."""

import subprocess
import sys
from collections.abc import Sequence

from tfdist.errors import EXIT_DONE
from tfdist.launch import kubernetes, slurm
from tfdist.launch.program import check_is_there
from tfdist.launch.settings import Settings


def submit(settings: Settings, command: Sequence[str]) -> int:
    """Submit the job, or with `dry_run` print it.

    Returns:
        The exit code of the scheduler's own command.

    Raises:
        UsageError: that command is not on this machine.
    """
    if settings.submit == "kubernetes":
        return _give(
            ["kubectl", "create", "-f", "-"], kubernetes.manifest(settings, command), settings
        )
    return _give(["sbatch"], slurm.batch_script(settings, command), settings)


def _give(program: list[str], text: str, settings: Settings) -> int:
    if settings.dry_run:
        sys.stdout.write(text)
        return EXIT_DONE
    check_is_there(program[0])
    return subprocess.run(program, input=text, text=True).returncode
