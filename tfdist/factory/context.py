"""What the last `tfdist.strategy()` of this process decided and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.watchdog import Watchdog
from tfdist.errors import UsageError
from tfdist.factory.choice import Choice
from tfdist.factory.devices import Devices
from tfdist.factory.planning import Plan

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class Context:
    """A strategy and how it came about.

    Attributes:
        plan: What was decided before anything was built.
        transport: How gradients travel between workers: "auto", "ring", "nccl" or "mpi".
        strategy: The tf.distribute object.
        channel: The line to the other tasks; None where this process trains alone.
        watchdog: What ends this process when another task falls silent; None likewise.
        seed: The seed of all random numbers; None when they were left alone.
        compression: In how many bits gradients travel between workers.
        road: The transport that was taken, and why if it was chosen; None without other workers.
    """

    plan: Plan
    transport: str
    strategy: tf.distribute.Strategy
    channel: Channel | None = None
    watchdog: Watchdog | None = None
    seed: int | None = None
    compression: str = "none"
    road: str | None = None

    @property
    def choice(self) -> Choice:
        """The strategy's name, the reason, and why each other one was refused."""
        return self.plan.choice

    @property
    def cluster(self) -> Cluster:
        """Where this process is."""
        return self.plan.cluster

    @property
    def devices(self) -> Devices:
        """What this process computes on."""
        return self.plan.devices

    @property
    def num_workers(self) -> int:
        """The number of processes that train: 1 where this one trains alone."""
        return 1 if self.channel is None else self.cluster.num_workers

    @property
    def num_replicas(self) -> int:
        """The number of replicas of the whole job; TensorFlow counts one worker's under ps."""
        in_sync = self.strategy.num_replicas_in_sync
        return in_sync * self.num_workers if self.choice.name == "parameter_server" else in_sync

    def is_what(self, plan: Plan, transport: str, compression: str = "none") -> bool:
        """Whether this is what such a plan builds."""
        wire = self.transport, self.compression
        ours = (self.choice.name, self.cluster, self.plan.request, *wire)
        return ours == (plan.choice.name, plan.cluster, plan.request, transport, compression)


_current: Context | None = None


def current() -> Context:
    """The context of the last strategy built in this process.

    Raises:
        UsageError: none was built.
    """
    if _current is None:
        raise UsageError("no strategy was built in this process: call tfdist.strategy() first.")
    return _current


def last() -> Context | None:
    """The same, or None when none was built."""
    return _current


def remember(context: Context) -> None:
    """Make a context the current one."""
    global _current
    _current = context
