"""Slurm: the tasks of a step, as srun starts them.

Variables: https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from collections.abc import Mapping

from tfdist.cluster.addresses import join_address
from tfdist.cluster.environments import mpi
from tfdist.cluster.environments.derived_ports import derived_port
from tfdist.cluster.environments.hostlist import expand_counts, expand_hosts
from tfdist.cluster.environments.layout import lay_out, whole_number
from tfdist.cluster.environments.placement import place
from tfdist.cluster.spec import Cluster
from tfdist.errors import UsageError

NAME = "Slurm"
_SIZE = "SLURM_STEP_NUM_TASKS"
_NODES = "SLURM_STEP_NODELIST"
_COUNTS = "SLURM_STEP_TASKS_PER_NODE"
# Two jobs on one node have their own ports as long as neither has more steps than this.
_STEPS_OF_A_JOB = 5


def detect(env: Mapping[str, str]) -> bool:
    """Whether Slurm started several tasks, or reserved several and started one process."""
    if mpi.started_by_mpirun(env):  # mpirun runs inside of the allocation and knows better
        return False
    return _num_tasks(env) > 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The rank of this task in its step and the number of tasks; None outside of a step."""
    if _SIZE not in env:
        return None
    return whole_number(env, "SLURM_PROCID", NAME), _num_tasks(env)


def cluster(env: Mapping[str, str]) -> Cluster:
    """The tasks of this step on their nodes, each with a port of its own from the job's number.

    Raises:
        UsageError: when the process is no task of a step, or Slurm's placement cannot be followed.
    """
    if _SIZE not in env:
        raise UsageError(
            f"{NAME}: this process runs alone in an allocation for {_num_tasks(env)} tasks "
            f"(job {env['SLURM_JOB_ID']}); start all of them with srun, or this one with srun -n1."
        )
    rank = whole_number(env, "SLURM_PROCID", NAME)
    number = _job_number(env)
    addresses = [
        join_address(node, derived_port(number, index)) for index, node in enumerate(_nodes(env))
    ]
    return lay_out(NAME, addresses, rank, env, _origins(env))


def _num_tasks(env: Mapping[str, str]) -> int:
    if _SIZE in env:
        return whole_number(env, _SIZE, NAME)
    # An allocation without a step. SLURM_TASKS_PER_NODE would count the processors of a node that
    # was asked for without a number of tasks.
    for name in ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES"):
        if name in env and "SLURM_JOB_ID" in env:
            return whole_number(env, name, NAME)
    return 1


def _nodes(env: Mapping[str, str]) -> list[str]:
    """The node of each rank."""
    try:
        nodes = expand_hosts(env.get(_NODES, ""))
        counts = expand_counts(env.get(_COUNTS, ""))
        positions = place(
            counts, env.get("SLURM_DISTRIBUTION", ""), env.get("SLURM_DIST_PLANESIZE", "")
        )
        _check(env, nodes, counts, positions)
    except ValueError as error:
        raise UsageError(
            f"{NAME}: {error}; start the tasks with srun --distribution=block, or describe the "
            "cluster in TF_CONFIG."
        ) from None
    return [nodes[position] for position in positions]


def _check(
    env: Mapping[str, str], nodes: list[str], counts: list[int], positions: list[int]
) -> None:
    if len(nodes) != len(counts):
        raise ValueError(f"{_NODES}={env[_NODES]} and {_COUNTS}={env[_COUNTS]} differ in length")
    if len(positions) != _num_tasks(env):
        raise ValueError(f"{_COUNTS}={env[_COUNTS]} does not make {_SIZE}={env[_SIZE]}")
    here = whole_number(env, "SLURM_NODEID", NAME)
    ranks = ",".join(str(rank) for rank, position in enumerate(positions) if position == here)
    own = whole_number(env, "SLURM_PROCID", NAME)
    if env.get("SLURM_GTIDS", ranks) != ranks or positions[own : own + 1] != [here]:
        raise ValueError(
            f"node {here} should have the ranks {ranks} and has {env.get('SLURM_GTIDS', own)}"
        )


def _job_number(env: Mapping[str, str]) -> int:
    job = whole_number(env, "SLURM_JOB_ID", NAME)
    return job * _STEPS_OF_A_JOB + whole_number(env, "SLURM_STEP_ID", NAME)


def _origins(env: Mapping[str, str]) -> dict[str, str]:
    return {
        "hosts": f"{_NODES}={env[_NODES]}, {_COUNTS}={env[_COUNTS]}",
        "ports": f"SLURM_JOB_ID={env['SLURM_JOB_ID']}, SLURM_STEP_ID={env['SLURM_STEP_ID']}",
        "task": f"SLURM_PROCID={env['SLURM_PROCID']}",
    }
