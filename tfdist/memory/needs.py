"""What does each task of a job hold, under each strategy? Pure: from one replica's step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

STRATEGIES = ("one_device", "mirrored", "multi_worker", "central_storage", "parameter_server")
# What kernels take besides their results, and gradients that wait for their turn, are in no graph:
# they were 2 to 15 % of what steps of CNNs, ResNets and MobileNets were measured to hold.
_SCRATCH = 0.07
# A batch is in the step, two wait, and one is put together from its examples, which are there too.
_BATCHES_AHEAD = 4
_MARGIN = 1.2  # which estimates are within


@dataclass(frozen=True)
class Need:
    """What one device holds at the peak of a step, in bytes.

    Attributes:
        variables: Weights and other state of the model; on a host or a ps task with the slots.
        slots: Variables of the optimizer.
        activations: Results that the gradient still needs, and those of the moment.
        gradients: Of activations and weights, as many as are there at that moment.
        scratch: What kernels take besides, by experience.
        buffers: Examples and batches, and what the exchange of gradients takes besides.
    """

    variables: float = 0
    slots: float = 0
    activations: float = 0
    gradients: float = 0
    scratch: float = 0
    buffers: float = 0

    @property
    def total(self) -> float:
        """All of it."""
        return sum(asdict(self).values())


NOTHING = Need()


@dataclass(frozen=True)
class Line:
    """A number that grows with the rows of a replica: `fixed + rows * each`."""

    fixed: float
    each: float

    def at(self, rows: int) -> float:
        """Its value for so many rows."""
        return self.fixed + self.each * rows


def line(first: tuple[int, float], second: tuple[int, float]) -> Line:
    """Return the line through two values, (rows, value) each."""
    each = (second[1] - first[1]) / (second[0] - first[0])
    return Line(first[1] - each * first[0], each)


@dataclass(frozen=True)
class Step:
    """What a step of one replica holds, in bytes.

    Attributes:
        variables: As in `Need`.
        slots: Likewise.
        weights: Trainable weights, which is also what their gradient takes.
        largest: The largest variable, which a ps task cannot share with another.
        activations: At the peak, by rows.
        gradients: Likewise.
        batch: The input, by rows.
        shuffled: Examples that wait to be drawn, in bytes.
        reads_all: Whether each worker reads whole global batches, for want of numbered examples.
    """

    variables: float
    slots: float
    weights: float
    largest: float
    activations: Line
    gradients: Line
    batch: Line
    shuffled: float = 0
    reads_all: bool = False


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
    copies = computing(step, rows, slots=0)
    if strategy == "central_storage":
        kept = step.slots + (step.variables if shape.devices > 1 else 0)
        return [task("process", 1, shape.devices * [copies], kept)]
    part = max((step.variables + step.slots) / shape.ps, step.largest)
    return [
        task("worker", shape.workers, shape.of_worker * [copies]),
        task("ps", shape.ps, [], part),
    ]


def computing(step: Step, rows: int, slots: float | None = None, after: float = 0) -> Need:
    """Return what a device holds that computes so many rows.

    Args:
        step: Of one replica.
        rows: On this device.
        slots: Of the optimizer, if not all of them.
        after: What is held once all gradients are there, instead of activations.
    """
    activations, gradients = step.activations.at(rows), step.gradients.at(rows)
    more = max(0.0, after - activations - gradients)
    return Need(
        variables=step.variables,
        slots=step.slots if slots is None else slots,
        activations=activations,
        gradients=gradients,
        scratch=_SCRATCH * (activations + gradients),
        buffers=step.batch.at(rows) + more,
    )


def _together(step: Step, rows: int, devices: int, packed: float = 0) -> tuple[Need, ...]:
    """Devices that all update: the first adds up the gradients of all."""
    after = [(devices + 1 if i == 0 and devices > 1 else 1) * step.weights for i in range(devices)]
    after[0] += packed
    return tuple(computing(step, rows, after=each) for each in after)


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
