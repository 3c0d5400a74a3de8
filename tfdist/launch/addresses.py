"""Where the tasks of a cluster on this machine alone can listen."""

import random
import socket
from collections.abc import Mapping
from itertools import islice

from tfdist.cluster import Cluster, Task
from tfdist.errors import StartAgainError

# Below those that systems give to outgoing connections, so that none of these takes one meanwhile.
_PORTS = range(20_000, 32_000)


def loopback(sizes: Mapping[str, int]) -> list[Cluster]:
    """Return the place of each task in a cluster of this machine: chief, workers, ps.

    Args:
        sizes: The number of tasks of each job; without any, one process without a cluster.

    Raises:
        StartAgainError: there are not enough free ports.
    """
    ports = iter(_free(sum(sizes.values())))
    jobs = {
        job: {index: f"127.0.0.1:{next(ports)}" for index in range(size)}
        for job, size in sizes.items()
        if size
    }
    if not jobs:
        return [Cluster()]
    tasks = [Task(job, index) for job, addresses in jobs.items() for index in addresses]
    return [Cluster(jobs, task, "the launcher") for task in tasks]


def _free(count: int) -> list[int]:
    shuffled = random.SystemRandom().sample(_PORTS, len(_PORTS))
    found = list(islice(filter(_is_free, shuffled), count))
    if len(found) < count:
        raise StartAgainError(
            f"{count} tasks need a port each and only {len(found)} of {_PORTS[0]} to {_PORTS[-1]} "
            "are free: end what holds them, then start again"
        )
    return found


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("", port))
        except OSError:
            return False
    return True
