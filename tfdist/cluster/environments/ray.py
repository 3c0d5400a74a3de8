"""Ray: the workers of a Ray Train job, which find each other through a named actor.

Interface: https://docs.ray.io/en/latest/train/api/doc/ray.train.get_context.html
"""

import sys
import time
from collections.abc import Mapping
from typing import Any

from tfdist.cluster.addresses import join_address
from tfdist.cluster.environments.derived_ports import derived_port, number_of
from tfdist.cluster.environments.layout import lay_out
from tfdist.cluster.patience import Patience
from tfdist.cluster.ports import free_port
from tfdist.cluster.spec import Cluster
from tfdist.errors import StartAgainError

NAME = "Ray"
_WAIT_SECONDS = 300.0
_SAY_EVERY_SECONDS = 10.0
_LOOK_AGAIN_SECONDS = 0.1
# An actor ends with the last handle of the worker that made it, and the others may need it still.
_KEPT: list[Any] = []


def detect(env: Mapping[str, str]) -> bool:
    """Whether this is one of several workers of a Ray Train job."""
    found = rank_and_size(env)
    return found is not None and found[1] > 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The world rank and size; None outside of a Ray Train worker."""
    context = _context(env)
    return (context.get_world_rank(), context.get_world_size()) if context else None


def cluster(env: Mapping[str, str]) -> Cluster:
    """One task for each worker, at the addresses that they tell each other.

    Raises:
        StartAgainError: when a worker does not tell its address within 300 s.
    """
    rank, size = rank_and_size(env) or (0, 1)
    addresses = _exchange(_context(env).get_experiment_name(), rank, size)
    origins = {"hosts and ports": "each worker, through a named actor", "task": f"rank {rank}"}
    return lay_out(NAME, addresses, rank, env, origins)


def _context(env: Mapping[str, str]) -> Any:
    # A worker process has imported Ray Train long before the user's function runs in it.
    if "RAY_JOB_ID" not in env or "ray.train" not in sys.modules:
        return None
    import ray.train

    try:
        context = ray.train.get_context()
        context.get_world_size()
    except RuntimeError:  # a Ray process that is no worker of a training job
        return None
    return context


def _exchange(job: str, rank: int, size: int) -> list[str]:
    import ray

    board = ray.remote(_Board).options(name=f"tfdist-{job}", get_if_exists=True, num_cpus=0)
    board = board.remote()
    _KEPT.append(board)
    port = free_port(derived_port(number_of(job), rank))
    address = join_address(ray.util.get_node_ip_address(), port)
    known = ray.get(board.put.remote(rank, address))
    patience = Patience(_WAIT_SECONDS, _SAY_EVERY_SECONDS)
    while len(known) < size:
        missing = ", ".join(f"rank {other}" for other in range(size) if other not in known)
        if patience.is_over:
            raise StartAgainError(f"{NAME}: {missing} told no address in {_WAIT_SECONDS:.0f} s.")
        if patience.time_to_say():
            patience.say(f"rank {rank}", missing)
        time.sleep(_LOOK_AGAIN_SECONDS)
        known = ray.get(board.put.remote(rank, address))
    return [known[other] for other in range(size)]


class _Board:
    """Where the workers write down their addresses; lives as long as its first worker."""

    def __init__(self) -> None:
        self._addresses: dict[int, str] = {}

    def put(self, rank: int, address: str) -> dict[int, str]:
        self._addresses[rank] = address
        return self._addresses
