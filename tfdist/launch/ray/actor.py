"""A task on one of Ray's nodes, as `Process` is one on this machine."""

import os
import threading
import time
from dataclasses import dataclass, replace
from typing import Any

from tfdist.cluster import Task
from tfdist.launch.hosts import Host
from tfdist.launch.process import Order
from tfdist.launch.ray.node import Node
from tfdist.launch.signals import Signals

_KILL_SECONDS = 5.0
_LOST = -9  # as a process that was killed


@dataclass(frozen=True)
class Bundle:
    """A part of a placement group.

    Attributes:
        placement: The group.
        index: Which part of it.
        resources: What it has.
    """

    placement: Any
    index: int
    resources: dict[str, float]

    def __str__(self) -> str:
        return f"Ray's bundle {self.index}"

    def actor(self, task: Task, port: int | None) -> Any:
        """Make an actor that has the whole bundle for itself."""
        import ray
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        own = dict(self.resources)
        made = ray.remote(Node).options(
            num_cpus=own.pop("CPU"),
            num_gpus=own.pop("GPU", 0),
            resources=own,
            scheduling_strategy=PlacementGroupSchedulingStrategy(
                self.placement, placement_group_bundle_index=self.index
            ),
        )
        return made.remote(task, port)

    def process(self, task: Task, host: Host, port: int | None) -> "Actor":
        """Make a task's process here."""
        return Actor(task, host, self.actor(task, port), max(1, int(self.resources["CPU"])))


class Actor:
    """A task with all that it starts; see `Process`, which has the same methods.

    Its output comes through pipes of this process, which a thread fills.
    """

    def __init__(self, task: Task, host: Host, actor: Any, cores: int) -> None:
        self.task = task
        self.host = host
        self.address: str | None = None
        self.code: int | None = None
        self._actor = actor
        self._cores = cores
        ends = {name: os.pipe() for name in ("stdout", "stderr")}
        self.pipes = {name: reader for name, (reader, _) in ends.items()}
        self._writers = {name: writer for name, (_, writer) in ends.items()}

    def offer(self, signals: Signals) -> int:
        """Hold a port for the task on its node, and return the number of cores it has there."""
        import ray

        offered = self._actor.offer.remote()
        while not ray.wait([offered], timeout=0.2)[0]:
            signals.end_as_asked()
        self.address = ray.get(offered)
        return self._cores

    def start(self, order: Order) -> None:
        """Start the task."""
        self._actor.start.remote(replace(order, is_remote=False))
        threading.Thread(target=self._relay, daemon=True).start()

    def beat(self) -> None:
        """Ray itself ends the actor when this process is gone, and with it its keeper's task."""

    def ask_to_end(self) -> None:
        """Send SIGTERM."""
        self._actor.end.remote(False)

    def kill(self) -> None:
        """Send SIGKILL; `wait` waits for the end."""
        self._actor.end.remote(True)

    def wait(self) -> None:
        """Wait until it has ended, and end its actor."""
        import ray

        deadline = time.monotonic() + _KILL_SECONDS
        while self.code is None and time.monotonic() < deadline:
            time.sleep(0.02)
        ray.kill(self._actor)

    def close(self) -> None:
        """Close its output."""
        for reader in self.pipes.values():
            os.close(reader)

    def _relay(self) -> None:
        import ray

        code = None
        try:
            while code is None:
                lines, code = ray.get(self._actor.look.remote())
                for name, line in lines:
                    os.write(self._writers[name], line.encode() + b"\n")
        except (ray.exceptions.RayError, OSError):
            code = _LOST
        for writer in self._writers.values():
            os.close(writer)
        self.code = code
