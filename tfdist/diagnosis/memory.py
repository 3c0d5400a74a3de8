"""Does the memory of this host suffice for its tasks?"""

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tfdist.cluster import Cluster
from tfdist.cluster.addresses import split_address
from tfdist.cluster.processor import cores
from tfdist.diagnosis.finding import Finding, ok, warn

_TASK_BYTES = 10**9  # what TensorFlow, Keras and a small model take
_GROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Host:
    """What this host has for its tasks.

    Attributes:
        name: By which it calls itself.
        cores: That this process may use.
        memory_bytes: Of the host, or of the container when that is less.
        free_bytes: What is left of it.
    """

    name: str
    cores: int
    memory_bytes: int
    free_bytes: int


def this_host() -> Host:
    """Look at the host and the container that this process is in."""
    import psutil

    memory = psutil.virtual_memory()
    total, free = memory.total, memory.available
    if (limit := _limit(_GROUP)) and limit[0] < total:
        total, free = limit[0], min(free, limit[0] - limit[1])
    return Host(socket.gethostname(), cores(), total, free)


def check(host: Host, cluster: Cluster) -> Iterator[Finding]:
    """Compare what is free with what the tasks on this host take at least."""
    tasks = tasks_here(cluster)
    free = f"{host.free_bytes / 1e9:.1f} of {host.memory_bytes / 1e9:.1f} GB are free"
    for_them = f"for {tasks} tasks and their models" if tasks > 1 else "for a task and its model"
    if host.free_bytes < tasks * _TASK_BYTES:
        yield warn(
            "memory",
            f"only {free} {for_them}",
            "end what else runs here, or run fewer tasks on this host",
        )
    else:
        yield ok("memory", f"{free} {for_them}")


def _limit(group: Path) -> tuple[int, int] | None:
    """The limit of this container and what it uses of it; caches, which can be dropped, aside."""
    try:
        limit = int((group / "memory.max").read_text())
        used = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return limit, int(used["anon"])
    except (OSError, ValueError, KeyError):  # no such limit, or another kind of group
        return None


def tasks_here(cluster: Cluster) -> int:
    """Return the number of tasks of a cluster that are on this host."""
    if cluster.is_local or cluster.task not in cluster.members:
        return 1
    hosts = [split_address(cluster.address(task))[0] for task in cluster.members]
    return hosts.count(split_address(cluster.address(cluster.task))[0])
