"""Where am I: the cluster that this process's environment describes."""

from collections.abc import Mapping

from tfdist.cluster.addresses import split_address
from tfdist.cluster.environments import ENVIRONMENTS
from tfdist.cluster.environments.layout import TASKS, named_tasks
from tfdist.cluster.spec import Cluster
from tfdist.cluster.variables import environment
from tfdist.errors import UsageError

# Of launchers that say nothing of hosts: torchrun, MVAPICH, jsrun and Flux.
_OTHERS = (
    ("RANK", "WORLD_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
    ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
)


def resolve(env: Mapping[str, str] | None = None) -> Cluster:
    """The cluster of this process: TF_CONFIG's, else the scheduler's, else this machine alone.

    Args:
        env: The environment variables; those of this process by default.

    Raises:
        UsageError: when a description is wrong, when two disagree, or when several processes were
            started and nothing says how they reach each other.
    """
    env = environment() if env is None else env
    found = [source for source in ENVIRONMENTS if source.detect(env)]
    if not found:
        _refuse_unplaced_tasks(env)
        _refuse_ranks_of_others(env)
        return Cluster()
    cluster = found[0].cluster(env)
    for other in found[1:]:
        _compare(cluster, other.NAME, other.rank_and_size(env))
    return cluster


def _compare(cluster: Cluster, other: str, place: tuple[int, int] | None) -> None:
    if place is None or _agree(cluster, *place):
        return
    rank, size = place
    tasks = len(cluster.members)
    raise UsageError(
        f"{cluster.source} says that this is {cluster.task} of {tasks} tasks, and {other} says "
        f"that it is rank {rank} of {size}; unset the variables of the one that is wrong."
    )


def _agree(cluster: Cluster, rank: int, size: int) -> bool:
    members = cluster.members
    evaluators = len(cluster.jobs.get("evaluator", ())) or int(cluster.is_evaluator)
    if size not in (len(members), len(members) + evaluators):
        # One process of the scheduler on each host may have started several tasks there.
        addresses = [address for tasks in cluster.jobs.values() for address in tasks.values()]
        return size == len({split_address(address)[0] for address in addresses})
    # With parameter servers, people order the ranks as they like.
    return cluster.has_ps or cluster.is_evaluator or members.index(cluster.task) == rank


def _refuse_unplaced_tasks(env: Mapping[str, str]) -> None:
    tasks = named_tasks(env)
    if len(tasks) > 1:
        raise UsageError(
            f"{TASKS}={env[TASKS]} names {len(tasks)} tasks and nothing says which one this is; "
            "start them with srun, mpirun or an Indexed Job of Kubernetes, or unset it."
        )


def _refuse_ranks_of_others(env: Mapping[str, str]) -> None:
    """Rather than as many trainings, each alone, as there are processes."""
    for rank, size in _OTHERS:
        if rank in env and env.get(size, "1") not in ("", "0", "1"):
            raise UsageError(
                f"{rank}={env[rank]} and {size}={env[size]} say that this is one of several "
                "processes, and nothing says how they reach each other; start them with python -m "
                "tfdist.launch, srun or mpirun, or describe the cluster in TF_CONFIG."
            )
