"""Run all tasks of a cluster on this machine, until they have ended or one has failed."""

import sys
from collections.abc import Callable, Mapping, Sequence

from tfdist.cluster import Task
from tfdist.launch.ended import Ended
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.screen import BAR
from tfdist.launch.signals import Signals
from tfdist.launch.tasks import tasks_of


def show(task: Task, stream: str, line: str) -> None:
    """Show a line of a task's output with the task's name before it; a bar is left out."""
    if line.startswith(BAR):
        return
    out = sys.stdout if stream == "stdout" else sys.stderr
    out.write(f"[{task}] {line}\n")
    out.flush()


def run_local(
    command: Sequence[str],
    sizes: Mapping[str, int],
    *,
    heard: Callable[[Task, str, str], None] = show,
    timeout_seconds: float | None = None,
    grace_seconds: float = 10,
) -> list[Ended]:
    """Run a command in every task of a cluster on this machine, each with its TF_CONFIG.

    When a task fails, the time is over, or this process is interrupted or asked to end, the other
    tasks are asked to end (SIGTERM) and then made to (SIGKILL). None outlives this process.

    Args:
        command: The program and its arguments, the same for all tasks.
        sizes: The number of tasks of each job, such as {"worker": 2}; empty for one process
            without a cluster.
        heard: Called with the task, "stdout" or "stderr", and each line of its output.
        timeout_seconds: For all of it; None for no limit.
        grace_seconds: Between SIGTERM and SIGKILL.

    Returns:
        How the tasks ended, in that order; `first_failure` finds the cause among them.

    Raises:
        StartAgainError: this machine has no ports left.
    """
    tasks = tasks_of(sizes) or [Task("worker", 0)]
    group = Group(
        command,
        dict.fromkeys(tasks, THIS_MACHINE),
        grace_seconds,
        timeout_seconds,
        is_cluster=bool(tasks_of(sizes)),
    )
    with Signals() as signals:
        ended = run(group, heard, signals)
        signals.end_as_asked()
    return ended
