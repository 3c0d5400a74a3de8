"""What does each task of a job hold, under each strategy? Pure: from one replica's step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfdist.memory.step import NOTHING, Need, Step, computing, keeping, reading

STRATEGIES = ("one_device", "mirrored", "multi_worker", "central_storage", "parameter_server")
# A batch is in the step, two wait, and one is put together from its examples, which are there too.
_BATCHES_AHEAD = 4


@dataclass(frozen=True)
class Task:
    """Tasks of one kind under one strategy.

    Attributes:
        strategy: Its name.
        name: Of the task.
        rows: Examples of its fullest replica.
        count: How many there are.
        devices: What each device of such a task holds.
        host: What such a task holds on its host besides.
    """

    strategy: str
    name: str
    rows: int
    count: int
    devices: tuple[Need, ...]
    host: Need = NOTHING

    @property
    def total(self) -> float:
        """All that such a task holds, in bytes."""
        return self.host.total + sum(each.total for each in self.devices)


@dataclass(frozen=True)
class Shape:
    """The job that is thought of, where a strategy has several devices or tasks.

    Attributes:
        devices: Of a process that trains alone.
        of_worker: Of each worker of several.
        workers: How many.
        ps: Tasks that hold the variables.
    """

    devices: int
    of_worker: int
    workers: int
    ps: int

    def rows(self, strategy: str, examples: int) -> int:
        """The rows of the fullest replica in a step of so many examples."""
        return -(-examples // self._replicas(strategy))

    def _replicas(self, strategy: str) -> int:
        if strategy == "one_device":
            return 1
        if strategy == "multi_worker":
            return self.workers * self.of_worker
        # Under parameter servers each worker takes whole steps.
        return self.of_worker if strategy == "parameter_server" else self.devices


def tasks(step: Step, strategy: str, rows: int, shape: Shape) -> list[Task]:
    """Return what the tasks hold under a strategy.

    Args:
        step: Of one replica.
        strategy: One of `STRATEGIES`.
        rows: Examples of the fullest replica.
        shape: Of the job.
    """

    def task(name: str, count: int, devices: Sequence[Need], kept: float = 0) -> Task:
        read = count if step.reads_all and strategy == "multi_worker" else 1
        ahead = step.batch.at(rows) * len(devices) * read * _BATCHES_AHEAD
        waits = ahead + step.shuffled if devices else 0
        return Task(strategy, name, rows, count, tuple(devices), Need(kept, buffers=waits))

    if strategy == "one_device":
        return [task("process", 1, [computing(step, rows)])]
    if strategy == "mirrored":
        return [task("process", 1, _together(step, rows, shape.devices))]
    if strategy == "multi_worker":
        packed = 2 * step.weights if shape.workers > 1 else 0  # what is sent, and what comes back
        needs = _together(step, rows, shape.of_worker, packed)
        return [task("worker", shape.workers, needs)]
    if strategy == "central_storage":
        kept = step.slots + (step.variables if shape.devices > 1 else 0)
        return [task("process", 1, shape.devices * [computing(step, rows, slots=0)], kept)]
    keeps = keeping(step, shape.ps, shape.workers)
    return [
        task("worker", shape.workers, shape.of_worker * [reading(step, rows)]),
        Task(strategy, "ps", rows, shape.ps, (), keeps),
    ]


def _together(step: Step, rows: int, devices: int, packed: float = 0) -> tuple[Need, ...]:
    """Devices that all update: the first adds up the gradients of all."""
    after = [(devices + 1 if i == 0 and devices > 1 else 1) * step.weights for i in range(devices)]
    after[0] += packed
    return tuple(computing(step, rows, after=each) for each in after)
