"""Watch running tasks until all have ended or one has failed, and end those that are left."""

import math
import time
from collections.abc import Sequence

from tfdist.cluster import Task
from tfdist.errors import EXIT_AGAIN
from tfdist.launch.ended import Ended, first_failure
from tfdist.launch.output import Listener
from tfdist.launch.process import Process
from tfdist.launch.replacing import Replacing
from tfdist.launch.signals import Signals

# A task that has lost another may end before it does; so long its end is waited for.
_SETTLE_SECONDS = 2.0


def watch(
    processes: Sequence[Process],
    listener: Listener,
    timeout_seconds: float | None,
    grace_seconds: float,
    signals: Signals,
    replacing: Replacing | None = None,
) -> list[Ended]:
    """Listen until all have ended, one has failed, the time is over, or a signal came.

    Tasks that only serve are done when all others are, and have `grace_seconds` to see it.

    Args:
        processes: All that run.
        listener: Listens to them.
        timeout_seconds: For all of it; None for no limit.
        grace_seconds: For those that serve.
        signals: Those that ask to end.
        replacing: What goes on without some; None when each is needed.

    Returns:
        How those ended that did so by themselves, in that order.
    """
    ended: list[Ended] = []
    running = list(processes)
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    while running and not signals.received and not _is_over(deadline):
        gone = [(each, each.code) for each in running if each.code is not None]
        listener.listen(wait=not gone)  # what a process wrote before its end is there
        left = [each for each in running if each not in [process for process, _ in gone]]
        if replacing:
            gone = [
                each for each in gone if not replacing.go_on_without(each[0], ended_by(*each), left)
            ]
        # Of those that ended in one glance a signal is the cause of an error, never the reverse.
        ended += sorted((ended_by(*each) for each in gone), key=lambda each: each.code >= 0)
        running = left
        if gone:
            tasks = [each.task for each in running]
            deadline = _sooner(deadline, _patience(ended, tasks, grace_seconds))
        elif replacing:
            running += replacing.begin()
        for each in running:
            each.beat()
    return ended


def only_serve(tasks: Sequence[Task], ended: Sequence[Ended]) -> bool:
    """Whether these tasks have nobody left to serve: parameter servers and their workers."""
    has_ps = any(task.type == "ps" for task in [*tasks, *(each.task for each in ended)])
    return has_ps and all(task.type in ("ps", "worker") for task in tasks)


def stop(
    processes: Sequence[Process], listener: Listener, grace_seconds: float, signals: Signals
) -> None:
    """End what still runs, listening to its last words; at once when one more signal comes."""
    running = [each for each in processes if each.code is None]
    deadline, before = time.monotonic() + grace_seconds, len(signals.received)
    try:
        for each in running:
            each.ask_to_end()
        while any(each.code is None for each in running):
            if time.monotonic() > deadline or len(signals.received) > before:
                break
            listener.listen()
    finally:
        for each in running:
            each.kill()
        for each in processes:
            each.wait()
        listener.listen(wait=False)
        for each in processes:
            each.close()


def ended_by(process: Process, code: int | None, was_stopped: bool = False) -> Ended:
    """Return how a process ended, with its host."""
    host = process.host
    return Ended(process.task, code or 0, was_stopped, str(host), host.is_remote)


def _patience(ended: Sequence[Ended], left: Sequence[Task], grace_seconds: float) -> float | None:
    """For how long to wait for the tasks that are left, in seconds; None for no limit."""
    if cause := first_failure(ended):
        return _SETTLE_SECONDS if cause.code == EXIT_AGAIN else 0.0
    return grace_seconds if left and only_serve(left, ended) else None


def _sooner(deadline: float | None, seconds: float | None) -> float | None:
    if seconds is None:
        return deadline
    return min(deadline or math.inf, time.monotonic() + seconds)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
