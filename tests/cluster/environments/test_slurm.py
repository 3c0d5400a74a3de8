"""Slurm. The environments are those that srun, sbatch and salloc of Slurm 22.05 set."""

import json

import pytest

from tfdist.cluster import Task, resolve
from tfdist.cluster.environments import slurm
from tfdist.errors import UsageError


def step(rank=0, node=0, **changes):
    """A task of srun -N3 -n5 on the nodes n2, n7 and n10."""
    return {
        "SLURM_JOB_ID": "1",
        "SLURM_STEP_ID": "0",
        "SLURM_STEP_NODELIST": "n[2,7,10]",
        "SLURM_STEP_TASKS_PER_NODE": "3,1(x2)",
        "SLURM_STEP_NUM_TASKS": "5",
        "SLURM_NTASKS": "5",
        "SLURM_PROCID": str(rank),
        "SLURM_NODEID": str(node),
        **changes,
    }


def hosts(cluster):
    return [address.split(":")[0] for address in cluster.jobs["worker"].values()]


BLOCK = [(0, 0), (1, 0), (2, 0), (3, 1), (4, 2)]
CYCLIC = [(0, 0), (1, 1), (2, 2), (3, 0), (4, 0)]


@pytest.mark.parametrize(("rank", "node"), BLOCK)
def test_block(rank, node):
    cluster = resolve(step(rank, node))
    assert cluster.source == "Slurm"
    assert cluster.task == Task("worker", rank)
    assert hosts(cluster) == ["n2", "n2", "n2", "n7", "n10"]


@pytest.mark.parametrize(("rank", "node"), CYCLIC)
def test_cyclic(rank, node):
    cluster = resolve(step(rank, node, SLURM_DISTRIBUTION="cyclic"))
    assert cluster.task == Task("worker", rank)
    assert hosts(cluster) == ["n2", "n7", "n10", "n2", "n2"]


def test_plane():
    env = step(5, 0, SLURM_STEP_TASKS_PER_NODE="4,2,1", SLURM_STEP_NUM_TASKS="7")
    env |= {"SLURM_DISTRIBUTION": "plane", "SLURM_DIST_PLANESIZE": "2"}
    assert hosts(resolve(env)) == ["n2", "n2", "n7", "n7", "n10", "n2", "n2"]


def test_more_than_nine_unpadded_nodes_are_in_rank_order():
    env = step(10, 10, SLURM_STEP_NODELIST="n[1-12]", SLURM_STEP_TASKS_PER_NODE="1(x12)")
    cluster = resolve({**env, "SLURM_STEP_NUM_TASKS": "12"})
    assert hosts(cluster) == [f"n{number}" for number in range(1, 13)]
    assert cluster.address(cluster.task).startswith("n11:")


def ports(**changes):
    addresses = resolve(step(**changes)).jobs["worker"].values()
    return [int(address.split(":")[1]) for address in addresses]


def test_every_task_has_its_own_port_and_all_tasks_agree():
    assert len(set(ports())) == 5
    assert all(10_000 <= port < 32_768 for port in ports())
    assert all(resolve(step(rank, node)).jobs == resolve(step()).jobs for rank, node in BLOCK)


def test_jobs_and_steps_on_the_same_nodes_have_other_ports():
    jobs = [ports(SLURM_JOB_ID=str(job)) for job in range(1000, 1069)]
    steps = [ports(SLURM_JOB_ID="1069", SLURM_STEP_ID=str(number)) for number in range(0, 5)]
    taken = [port for own in jobs + steps for port in own]
    assert len(set(taken)) == len(taken)


def test_a_large_job_number_makes_possible_ports():
    large = ports(SLURM_JOB_ID="67108863", SLURM_STEP_ID="4294967290")
    assert all(10_000 <= port < 32_768 for port in large)


def test_roles():
    env = step(4, 2, TFDIST_TASKS="chief=1,worker=2,ps=1,evaluator=1")
    cluster = resolve(env)
    assert cluster.task == Task("evaluator", 0)
    assert {job: len(tasks) for job, tasks in cluster.jobs.items()} == {
        "chief": 1,
        "worker": 2,
        "ps": 1,
        "evaluator": 1,
    }
    assert cluster.address(Task("ps", 0)).startswith("n7:")
    assert cluster.origins["jobs"] == "TFDIST_TASKS=chief=1,worker=2,ps=1,evaluator=1"


def test_origins():
    assert resolve(step()).origins == {
        "hosts": "SLURM_STEP_NODELIST=n[2,7,10], SLURM_STEP_TASKS_PER_NODE=3,1(x2)",
        "ports": "SLURM_JOB_ID=1, SLURM_STEP_ID=0",
        "task": "SLURM_PROCID=0",
    }


ALONE = {
    "srun -n1": {
        **step(),
        "SLURM_STEP_NUM_TASKS": "1",
        "SLURM_STEP_NODELIST": "n2",
        "SLURM_STEP_TASKS_PER_NODE": "1",
    },
    "sbatch -n1": {"SLURM_JOB_ID": "11", "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1"},
    "sbatch -N1 --exclusive": {
        "SLURM_JOB_ID": "12",
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_TASKS_PER_NODE": "4",
    },
    "srun -n1 in an allocation for 5": {
        **step(),
        "SLURM_NTASKS": "5",
        "SLURM_STEP_NUM_TASKS": "1",
    },
    "only an option for srun": {"SLURM_NTASKS": "4"},
}


@pytest.mark.parametrize("name", ALONE)
def test_one_task_is_alone(name):
    assert resolve(ALONE[name]).is_local


SEVERAL = {
    "sbatch -n5 without srun": {"SLURM_JOB_ID": "9", "SLURM_NTASKS": "5", "SLURM_PROCID": "0"},
    "sbatch -N5 without srun": {"SLURM_JOB_ID": "9", "SLURM_JOB_NUM_NODES": "5"},
    "salloc -n5": {"SLURM_JOB_ID": "9", "SLURM_NTASKS": "5"},
}


@pytest.mark.parametrize("name", SEVERAL)
def test_an_allocation_for_several_without_a_step_is_refused(name):
    with pytest.raises(UsageError) as caught:
        resolve(SEVERAL[name])
    assert str(caught.value) == (
        "Slurm: this process runs alone in an allocation for 5 tasks (job 9); start all of them "
        "with srun, or this one with srun -n1."
    )


def test_tf_config_goes_before_an_allocation_without_a_step():
    # As when the launcher starts its tasks from a batch script.
    workers = {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}
    config = json.dumps({"cluster": workers, "task": {"type": "worker", "index": 1}})
    cluster = resolve({**SEVERAL["sbatch -n5 without srun"], "TF_CONFIG": config})
    assert (cluster.source, cluster.num_workers) == ("TF_CONFIG", 2)


WRONG = {
    "arbitrary": (
        step(SLURM_DISTRIBUTION="arbitrary"),
        "Slurm: the distribution 'arbitrary' does not tell which rank is where; start the tasks "
        "with srun --distribution=block, or describe the cluster in TF_CONFIG.",
    ),
    "not where it should be": (step(3, 0), "node 0 should have the ranks 0,1,2 and has 3"),
    "others are not where they should be": (
        step(0, 0, SLURM_GTIDS="0,3,4"),
        "node 0 should have the ranks 0,1,2 and has 0,3,4",
    ),
    "rank too large": (step(5, 2), "node 2 should have the ranks 4 and has 5"),
    "node list": (step(SLURM_STEP_NODELIST="n[1-"), "'n[1-' is no node list"),
    "counts": (step(SLURM_STEP_TASKS_PER_NODE="3,x"), "'x' is no count"),
    "too few counts": (step(SLURM_STEP_TASKS_PER_NODE="4,1"), "differ in length"),
    "other total": (
        step(SLURM_STEP_TASKS_PER_NODE="1(x3)"),
        "SLURM_STEP_TASKS_PER_NODE=1(x3) does not make SLURM_STEP_NUM_TASKS=5",
    ),
    "no rank": (step(SLURM_PROCID="x"), "SLURM_PROCID is 'x' and must be a whole number"),
    "roles of another number": (
        step(TFDIST_TASKS="chief=1,worker=2"),
        "TFDIST_TASKS=chief=1,worker=2 describes 3 tasks and Slurm started 5; make the two",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    env, message = WRONG[name]
    with pytest.raises(UsageError) as caught:
        resolve(env)
    assert message in str(caught.value)
    assert ". " not in str(caught.value)


def test_a_missing_variable_is_named():
    env = step()
    del env["SLURM_STEP_ID"]
    with pytest.raises(UsageError, match="SLURM_STEP_ID is missing and must be a whole number"):
        slurm.cluster(env)
