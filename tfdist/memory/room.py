"""Does a job fit into the memory there is, and how large a batch would?"""

from __future__ import annotations

from dataclasses import dataclass

from tfdist.memory.step import Step
from tfdist.memory.tasks import Shape, Task, tasks

_MARGIN = 1.2  # which estimates are within


@dataclass(frozen=True)
class Room:
    """What there is for a task, in bytes.

    Attributes:
        host: Of its host.
        device: Of each of its devices; None where devices are the processor, with the host's.
    """

    host: float
    device: float | None = None

    def has(self, task: Task) -> bool:
        """Whether a task fits, with a fifth more than was estimated."""
        if self.device is None:
            return _MARGIN * task.total <= self.host
        most = max((each.total for each in task.devices), default=0)
        return _MARGIN * most <= self.device and _MARGIN * task.host.total <= self.host


def most_rows(step: Step, strategy: str, room: Room, shape: Shape) -> int:
    """Return the most rows of a replica with which every task of a strategy has room."""

    def fits(rows: int) -> bool:
        return all(map(room.has, tasks(step, strategy, rows, shape)))

    low, high = 0, 1
    while fits(high) and high < 2**40:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
