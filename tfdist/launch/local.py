"""Run all tasks of a cluster on this machine, until they have ended or one has failed."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tfdist.cluster import Cluster, Task
from tfdist.cluster.variables import environment
from tfdist.launch.addresses import loopback
from tfdist.launch.output import Listener
from tfdist.launch.process import Process, ended_by_signals


@dataclass(frozen=True)
class Ended:
    """How a task ended: its exit code (negative for a signal), and whether it was made to end."""

    task: Task
    code: int
    was_stopped: bool = False


def show(task: Task, stream: str, line: str) -> None:
    """Show a line of a task's output with the task's name before it."""
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
        How the tasks ended, in that order: the first failure is the cause of what follows.

    Raises:
        StartAgainError: this machine has no ports left.
    """
    processes: list[Process] = []
    with ended_by_signals(), Listener(heard) as listener:
        try:
            for cluster in loopback(sizes):
                processes.append(Process(cluster.task, command, _environment(cluster)))
                listener.add(processes[-1])
            ended = _watch(processes, listener, timeout_seconds)
        finally:
            _stop(processes, listener, grace_seconds)
    gone = {each.task for each in ended}
    stopped = [each for each in processes if each.task not in gone]
    return ended + [Ended(each.task, each.code or 0, was_stopped=True) for each in stopped]


def first_failure(ended: Sequence[Ended]) -> Ended | None:
    """The task that failed or was stopped first; None when all ended well."""
    return next((each for each in ended if each.code != 0 or each.was_stopped), None)


def _environment(cluster: Cluster) -> dict[str, str]:
    env = {**environment(), "PYTHONUNBUFFERED": "1"}
    env.pop("TF_CONFIG", None)
    return env if cluster.is_local else {**env, "TF_CONFIG": cluster.tf_config()}


def _watch(
    processes: Sequence[Process], listener: Listener, timeout_seconds: float | None
) -> list[Ended]:
    """Listen until all have ended, one has failed, or the time is over."""
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    ended: list[Ended] = []
    running = list(processes)
    while running and not first_failure(ended):
        if deadline is not None and time.monotonic() > deadline:
            break
        gone = [(each, each.code) for each in running if each.code is not None]
        listener.listen(wait=not gone)  # what a process wrote before its end is there
        ended += [Ended(each.task, code) for each, code in gone if code is not None]
        running = [each for each in running if each not in [process for process, _ in gone]]
    return ended


def _stop(processes: Sequence[Process], listener: Listener, grace_seconds: float) -> None:
    """End what still runs, listening to its last words."""
    running = [each for each in processes if each.code is None]
    deadline = time.monotonic() + grace_seconds
    try:
        for each in running:
            each.ask_to_end()
        while time.monotonic() < deadline and any(each.code is None for each in running):
            listener.listen()
    finally:
        for each in running:
            each.kill()
        listener.listen(wait=False)
        for each in processes:
            each.close()
