"""The processes that MPI started, as the tasks of the cluster."""

from __future__ import annotations

import atexit
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.variables import environment
from tfdist.errors import EXIT_DONE, UsageError, code_of
from tfdist.factory.devices import Devices

if TYPE_CHECKING:
    import tensorflow as tf

_STARTED = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK")
_HOW = "start it by `mpirun -np N ...`, `srun --mpi=pmix ...` or `tfdist.launch --transport=mpi`"


@dataclass(frozen=True)
class World:
    """What connects the tasks.

    Attributes:
        comm: MPI's communicator; its ranks are those of the cluster's workers.
        channel: The line that tells when a task is lost.
    """

    comm: Any
    channel: Channel


_leaving: _Leaving | None = None
_worlds: WeakKeyDictionary[tf.distribute.Strategy, World] = WeakKeyDictionary()


def world_of(strategy: tf.distribute.Strategy) -> World | None:
    """Return what connects the tasks of a strategy, None when its transport is not MPI."""
    return _worlds.get(strategy)


def check_started(env: Mapping[str, str] | None = None) -> None:
    """Refuse MPI where it is not installed, or did not start this process.

    Raises:
        UsageError: it is one of these.
    """
    env = environment() if env is None else env
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        raise UsageError(
            "transport 'mpi' needs mpi4py, which is not installed: pip install 'tfdist[mpi]'."
        ) from None
    if not any(name in env for name in _STARTED):
        raise UsageError(
            f"transport 'mpi' was asked for in a process that MPI did not start: {_HOW}."
        )


def ranks(devices: Devices, env: Mapping[str, str] | None = None) -> int:
    """Return how many ranks of MPI there are, 0 where it is no choice.

    It is one for CPUs, where mpirun or mpiexec started the process: to ask MPI elsewhere may end
    the process.
    """
    env = environment() if env is None else env
    started = "OMPI_COMM_WORLD_SIZE" in env or ("PMI_SIZE" in env and "SLURM_PROCID" not in env)
    if devices.kind != "CPU" or not started or importlib.util.find_spec("mpi4py") is None:
        return 0
    try:
        return int(_load().COMM_WORLD.Get_size())
    except UsageError:
        return 0


def enter(strategy: tf.distribute.Strategy, world: World) -> None:
    """Let MPI sum what the tasks of a strategy compute."""
    _worlds[strategy] = world


def connect(cluster: Cluster, channel: Channel) -> World:
    """Connect the tasks of a cluster by MPI.

    Raises:
        UsageError: MPI has no library, or its ranks are not the workers of the cluster.
    """
    mpi = _load()
    world = mpi.COMM_WORLD
    places = world.allgather((cluster.rank, str(cluster.task), cluster.num_workers))
    check_places(places)
    return World(world.Split(0, cluster.rank), channel)


def check_places(places: list[tuple[int, str, int]]) -> None:
    """Refuse ranks of MPI that are not, each for one, the workers of one cluster.

    Args:
        places: Of each rank its number among the workers, its task, and the number of workers.

    Raises:
        UsageError: a worker is missing or comes twice.
    """
    sizes = {size for _, _, size in places}
    if sizes == {len(places)} and {rank for rank, _, _ in places} == set(range(len(places))):
        return
    tasks = ", ".join(task for _, task, _ in places)
    workers = " or ".join(map(str, sorted(sizes)))
    raise UsageError(
        f"MPI started {len(places)} rank{'' if len(places) == 1 else 's'} ({tasks}) and the "
        f"cluster has {workers} workers: start one rank for each worker, with its own TF_CONFIG or "
        "none."
    )


def end_with(code: int) -> None:
    """Let MPI end all ranks when this process ends with a code that is not 0."""
    if _leaving is not None:
        _leaving.code = code


def _load() -> Any:
    import mpi4py

    if "mpi4py.MPI" not in sys.modules:
        mpi4py.rc.finalize = False
        global _leaving
        _leaving = _Leaving()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UsageError(
            f"transport 'mpi' found no MPI library ({error}): pip install 'tfdist[mpi]', or load "
            "the module of your cluster's MPI."
        ) from None
    return MPI


class _Leaving:
    """Ends MPI with the process.

    To finalize waits for all ranks: one that failed must abort instead, or nobody would ever end.
    """

    def __init__(self) -> None:
        self.code = EXIT_DONE
        self._next_hook = sys.excepthook
        sys.excepthook = self._note
        atexit.register(self._leave)

    def _note(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        self.code = code_of(error)
        self._next_hook(kind, error, traceback)

    def _leave(self) -> None:
        from mpi4py import MPI

        if self.code != EXIT_DONE:
            sys.stderr.flush()
            MPI.COMM_WORLD.Abort(self.code)
        MPI.Finalize()
