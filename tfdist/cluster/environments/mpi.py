"""MPI: the ranks that mpirun started, by OpenMPI (PMIx) or a hydra (PMI)."""

import faulthandler
import socket
from collections.abc import Mapping

from tfdist.cluster.addresses import join_address
from tfdist.cluster.environments.derived_ports import derived_port, number_of
from tfdist.cluster.environments.layout import lay_out, whole_number
from tfdist.cluster.ports import free_port
from tfdist.cluster.spec import Cluster
from tfdist.errors import UsageError

NAME = "MPI"
_FORMS = (  # rank, size, ranks on this host
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"),
)
_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun", "prted", "orted", "hydra_pmi_proxy")
_INIT_SECONDS = 300


def started_by_mpirun(env: Mapping[str, str]) -> bool:
    """Whether mpirun itself started this process, and not a scheduler that speaks PMI too."""
    return "OMPI_COMM_WORLD_SIZE" in env or "MPI_LOCALNRANKS" in env


def detect(env: Mapping[str, str]) -> bool:
    """Whether this is one of several MPI ranks."""
    if not started_by_mpirun(env) and "SLURM_STEP_ID" in env:
        return False
    found = rank_and_size(env)
    return "PMIX_RANK" in env if found is None else found[1] > 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The rank and the number of ranks; None when only MPI itself knows the number."""
    for rank, size, _ in _FORMS:
        if size in env:
            return whole_number(env, rank, NAME), whole_number(env, size, NAME)
    return None


def cluster(env: Mapping[str, str]) -> Cluster:
    """The ranks as tasks: on one host without any help, on several through mpi4py.

    Raises:
        UsageError: when the ranks are on several hosts and mpi4py is missing.
    """
    if _all_on_this_host(env):
        rank, size = rank_and_size(env) or (0, 1)
        number = number_of(_job_name(env))
        addresses = [f"127.0.0.1:{derived_port(number, other)}" for other in range(size)]
        origins = {"hosts": "all ranks are on this host", "ports": _job_name(env)}
        return lay_out(NAME, addresses, rank, env, {**origins, "task": f"rank {rank}"})
    addresses, rank = _gather_addresses(env)
    origins = {"hosts and ports": "mpi4py, from each rank", "task": f"rank {rank}"}
    return lay_out(NAME, addresses, rank, env, origins)


def _all_on_this_host(env: Mapping[str, str]) -> bool:
    return any(size in env and env.get(local) == env[size] for _, size, local in _FORMS)


def _job_name(env: Mapping[str, str]) -> str:
    """What is the same for all ranks of a job and differs between jobs."""
    for name in ("PMIX_NAMESPACE", "PMI_JOBID"):
        if name in env:
            return f"{name}={env[name]}"
    import psutil

    parents = psutil.Process().parents()
    launcher = next((parent for parent in parents if parent.name() in _LAUNCHERS), None)
    return f"{launcher.name()} {launcher.pid}" if launcher else "no job name"


def _gather_addresses(env: Mapping[str, str]) -> tuple[list[str], int]:
    # Initialising MPI waits for all ranks without letting Python act, so a C thread sets the limit.
    faulthandler.dump_traceback_later(_INIT_SECONDS, exit=True)
    try:
        from mpi4py import MPI
    except ImportError:
        raise UsageError(
            f"{NAME}: the ranks run on several hosts and mpirun does not say which; install "
            "tfdist[mpi], which asks MPI, or describe the cluster in TF_CONFIG."
        ) from None
    finally:
        faulthandler.cancel_dump_traceback_later()
    world = MPI.COMM_WORLD
    _check_world(env, world.Get_size())
    rank = world.Get_rank()
    preferred = derived_port(number_of(_job_name(env)), rank)
    places = world.allgather((socket.gethostname(), free_port(preferred)))
    return [join_address(*place) for place in places], rank


def _check_world(env: Mapping[str, str], size: int) -> None:
    started = rank_and_size(env)
    if started and started[1] != size:
        raise UsageError(
            f"{NAME}: mpirun started {started[1]} ranks and mpi4py sees {size}, because it uses "
            "another MPI; install mpi4py for the MPI whose mpirun you use."
        )
