"""An estimate, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from tfdist.memory.room import Room
from tfdist.memory.step import NOTHING
from tfdist.memory.tasks import Task

_MIB = 2**20
_NOT_COUNTED = "the dataset itself and --cache, fragmentation, and what --jit=on changes"
_OF_XLA = (
    "--jit=on: XLA lays out the memory of a step itself, which cannot be known before: 1.0 (mlp), "
    "1.4 (resnet) and 4.3 (cnn) times what is said here were measured on a CPU"
)


@dataclass(frozen=True)
class Report:
    """What every task would hold, whether it has room, and how many rows would.

    Attributes:
        model: By name.
        strategy: That was asked for or chosen.
        process: What TensorFlow itself holds in each task, in bytes, before a model is made.
        room: For each task besides.
        tasks: Under each strategy.
        largest: The most rows of a replica, by strategy.
        unknown: Operations that count nothing, because the shape of their results is not known.
        is_compiled: Whether XLA is to compile the step.
    """

    model: str
    strategy: str
    process: float
    room: Room
    tasks: Sequence[Task]
    largest: dict[str, int]
    unknown: Sequence[str] = ()
    is_compiled: bool = False

    @property
    def fits(self) -> bool:
        """Whether the strategy that was asked for has room."""
        return self.strategy in self.fitting

    @property
    def fitting(self) -> list[str]:
        """The strategies all of whose tasks have room."""
        full = {each.strategy for each in self.tasks if not self.room.has(each)}
        return [name for name in self.largest if name not in full]

    def as_json(self) -> str:
        """The same, as one line."""
        found = [
            {
                "strategy": each.strategy,
                "task": each.name,
                "tasks": each.count,
                "batch_size_per_replica": each.rows,
                "devices": [{**asdict(need), "total": need.total} for need in each.devices],
                "host": {**asdict(each.host), "total": each.host.total},
                "total": each.total,
                "fits": self.room.has(each),
            }
            for each in self.tasks
        ]
        return json.dumps(
            {
                "model": self.model,
                "strategy": self.strategy,
                "fits": self.fits,
                "room": asdict(self.room),
                "process": self.process,
                "tasks": found,
                "largest_batch_size_per_replica": self.largest,
                "unknown": list(self.unknown),
            }
        )

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.model}: MiB at the peak of a step, of the fullest device and of a task"
        yield "".join(
            [
                f"{'strategy':<18}{'tasks':<11}{'devices':>7}{'examples':>10}",
                *(f"{name:>12}" for name in (*asdict(NOTHING), "device", "host", "task")),
            ]
        )
        yield from map(_row, self.tasks)
        free = f"{_mib(self.room.host)} MiB of the host"
        if self.room.device is not None:
            free = f"{_mib(self.room.device)} MiB of each GPU and {free}"
        yield f"room for a task: {free}, beside {_mib(self.process)} that TensorFlow itself takes"
        rows = ", ".join(f"{name} {most:,}" for name, most in self.largest.items())
        yield f"most examples on a replica that fit: {rows}"
        yield f"not counted: {_NOT_COUNTED}"
        if self.is_compiled:
            yield _OF_XLA
        if self.unknown:
            shown = ", ".join(self.unknown[:3])
            yield f"too low by {len(self.unknown)} results of unknown shape, such as {shown}"
        yield self._verdict()

    def _verdict(self) -> str:
        if self.fits:
            return f"{self.strategy} fits"
        most = self.largest[self.strategy]
        fewer = f"give --batch_size_per_replica={most}" if most else "take a smaller model"
        others = [name for name in self.fitting if name != self.strategy]
        other = f", or --strategy={others[0]}" if others else ""
        return f"{self.strategy} does not fit: {fewer}{other}"


def _row(task: Task) -> str:
    """What the fullest device of a task holds, what its host does, and all of it."""
    need = max(task.devices, key=lambda each: each.total, default=NOTHING)
    values = (*asdict(need).values(), need.total, task.host.total, task.total)
    tasks = f"{task.count} {task.name}"
    start = f"{task.strategy:<18}{tasks:<11}{len(task.devices):>7}{task.rows:>10,}"
    return start + "".join(f"{_mib(value):>12}" for value in values)


def _mib(size: float) -> str:
    return f"{size / _MIB:,.1f}"
