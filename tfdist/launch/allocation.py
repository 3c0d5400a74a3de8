"""The tasks as a step of the allocation of Slurm that this process is in, by srun."""

import re
import shlex
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdist.cluster import Task
from tfdist.cluster.environments.layout import TASKS
from tfdist.cluster.variables import environment
from tfdist.launch import cause, slurm
from tfdist.launch.ended import Ended
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.program import check_is_there
from tfdist.launch.screen import Screen
from tfdist.launch.settings import Settings
from tfdist.launch.signals import Signals
from tfdist.launch.tasks import tasks_of

_LINE = re.compile(r" *(\d+): ?(.*)")  # as `srun --label` writes it


@dataclass(frozen=True)
class Step:
    """The tasks as a step of this allocation.

    Attributes:
        settings: How many tasks.
        command: What each runs.
    """

    settings: Settings
    command: Sequence[str]

    def __str__(self) -> str:
        return shlex.join(self._words(_link()))

    def runner(self, screen: Screen, signals: Signals) -> Callable[[], list[Ended]]:
        """Return what runs all tasks once, showing what they write.

        Raises:
            UsageError: there is no srun.
        """
        check_is_there("srun")
        return lambda: self._run(screen, signals)

    def _run(self, screen: Screen, signals: Signals) -> list[Ended]:
        tasks, link = tasks_of(self.settings.sizes), _link()
        unbuffered = {"PYTHONUNBUFFERED": environment().get("PYTHONUNBUFFERED", "1")}
        starter = {Task("worker", 0): THIS_MACHINE}
        seconds = self.settings.grace_seconds
        group = Group(self._words(link), starter, seconds, is_cluster=False, given=unbuffered)

        def heard(srun: Task, stream: str, line: str) -> None:
            if found := _LINE.fullmatch(line):
                screen(tasks[int(found[1])], stream, found[2])
            else:
                screen.say(line)

        (srun,) = run(group, heard, signals, screen.say)
        return [cause.first_ended(srun, link, tasks)]

    def _words(self, link: Path) -> list[str]:
        settings = self.settings
        options = [f"--ntasks={slurm.size(settings)}", *shlex.split(settings.submit_options or "")]
        # Not by --export, which would take the place of all that the user exports.
        task = ["env", f"{TASKS}={slurm.tasks(settings)}", *slurm.TASK, str(link)]
        return [*slurm.SRUN, *options, *task, *slurm.interpreted(self.command)]


def is_in_allocation() -> bool:
    """Whether this process is in an allocation of Slurm, where a step can be run."""
    return "SLURM_JOB_ID" in environment()


def _link() -> Path:
    return Path.cwd() / f".tfdist-{environment()['SLURM_JOB_ID']}-{uuid.uuid4().hex[:8]}"
