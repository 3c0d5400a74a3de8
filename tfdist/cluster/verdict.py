"""Has a task fallen silent or behind? Judged from what the tasks say of themselves; pure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfdist.cluster.task import Task

_AGAIN = "; start the job again."
_OR_LONGER = "; start the job again, with a larger stall_seconds if that may take so long."
_UNHEARD = {"what": "", "together": False, "patience": 1.0, "place": "", "seconds": 0.0}


@dataclass(frozen=True)
class Seen:
    """What is known of a task.

    Attributes:
        beat: What it said last, see `Pulse.beat`.
        silent_seconds: Since then.
        has_left: Whether it has ended on good terms.
    """

    beat: Mapping[str, Any] = field(default_factory=lambda: _UNHEARD)
    silent_seconds: float = 0.0
    has_left: bool = False

    @property
    def waited_seconds(self) -> float:
        """For how long it has waited for others; 0 when it does not."""
        waits = self.beat["together"] and not self.has_left
        return self.beat["seconds"] + self.silent_seconds if waits else 0.0


Tasks = Mapping[Task, Seen]


def verdict(
    tasks: Tasks,
    stall_seconds: float,
    serving: frozenset[Task] = frozenset(),
    missed_seconds: float = math.inf,
) -> str | None:
    """Return why the job cannot go on, as a sentence; None while it can.

    Args:
        tasks: All that this task hears of, and itself.
        stall_seconds: For how long one may be silent, or make the others wait.
        serving: Tasks that only serve. A worker of these may be silent as long as nobody waits: the
            others do its work.
        missed_seconds: Silence of more than that is the reason why others wait.
    """
    waiter = waiting(tasks)
    waited = tasks[waiter].waited_seconds
    spared = serving if waited <= stall_seconds else frozenset()
    if (silent := silence(tasks, stall_seconds, spared)) is not None:
        return silent
    if waited <= limit_seconds(tasks, stall_seconds):
        return None
    trained = {task: seen for task, seen in tasks.items() if task not in serving}
    return silence(tasks, missed_seconds, frozenset()) or _of_waiting(waiter, trained)


def silence(tasks: Tasks, limit_seconds: float, serving: frozenset[Task]) -> str | None:
    """Return who has been silent for longer than the limit, as a sentence; but for such workers."""
    for task, seen in tasks.items():
        is_needed = task.type != "worker" or task not in serving
        if is_needed and not seen.has_left and seen.silent_seconds > limit_seconds:
            said = f", last heard when it {_state(seen)}" if seen.beat["what"] else ""
            return (
                f"{task} has been silent for {seen.silent_seconds:.0f} s{said}; it is stopped, or "
                f"its host, or the network between{_AGAIN}"
            )
    return None


def waiting(tasks: Tasks) -> Task:
    """Return the task that has waited longest."""
    return max(tasks, key=lambda task: tasks[task].waited_seconds)


def limit_seconds(tasks: Tasks, stall_seconds: float) -> float:
    """Return how long a task may wait: longer when another is busy with what takes its time."""
    if any(seen.has_left for seen in tasks.values()):
        return stall_seconds
    return stall_seconds * max(seen.beat["patience"] for seen in tasks.values())


def told(waiter: Task, tasks: Tasks) -> str:
    """Return for whom a task has waited, as a clause behind "waited N s for"."""
    others = [task for task in tasks if task != waiter and not tasks[task].beat["together"]]
    slow = others or [task for task in tasks if task != waiter]
    return ", ".join(f"{task}, which {_state(tasks[task])}" for task in slow)


def _of_waiting(waiter: Task, tasks: Tasks) -> str:
    waited = tasks[waiter].waited_seconds
    waits = f"{waiter} has waited {waited:.0f} s for it ({_state(tasks[waiter])})"
    for task, seen in tasks.items():
        if seen.has_left:
            return f"{task} has ended before the others: {waits}{_AGAIN}"
    for task, seen in tasks.items():
        if not seen.beat["together"]:
            return f"{task} is behind: it {_state(seen)}, and {waits}{_OR_LONGER}"
    states: dict[str, list[str]] = {}
    for task, seen in tasks.items():
        states.setdefault(_state(seen), []).append(str(task))
    all_states = "; ".join(f"{', '.join(names)}: {state}" for state, names in states.items())
    return f"no task has gone on for {waited:.0f} s ({all_states}){_OR_LONGER}"


def _state(seen: Seen) -> str:
    at = f" at {seen.beat['place']}" if seen.beat["place"] else ""
    return f"{seen.beat['what']}{at}"
