"""Which source is followed, and when two of them disagree."""

import json

import pytest

from tfdist.cluster import Cluster, Task, resolve
from tfdist.errors import UsageError


def tf_config(index=0, job="worker", **jobs):
    cluster = jobs or {"worker": ["h1:1", "h2:1"]}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": job, "index": index}})}


def slurm(rank, size=2, **more):
    return {
        "SLURM_JOB_ID": "1",
        "SLURM_STEP_ID": "0",
        "SLURM_STEP_NODELIST": f"n[1-{size}]",
        "SLURM_STEP_TASKS_PER_NODE": f"1(x{size})",
        "SLURM_STEP_NUM_TASKS": str(size),
        "SLURM_PROCID": str(rank),
        "SLURM_NODEID": str(rank),
        **more,
    }


def test_nothing_is_this_machine_alone():
    assert resolve({}) == Cluster()
    assert resolve({}).source == "this machine"


def test_the_environment_of_the_process_is_the_default(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", tf_config(1)["TF_CONFIG"])
    assert resolve().task == Task("worker", 1)
    assert resolve({}).is_local


EVALUATOR = {"worker": ["h1:1", "h2:1"], "evaluator": ["h3:1"]}
WITH_PS = {"chief": ["h1:1"], "worker": ["h2:1"], "ps": ["h3:1"]}
ON_TWO_HOSTS = {"worker": ["h1:1", "h1:2", "h2:1", "h2:2"]}
AGREE = {
    "the same place": {**tf_config(1), **slurm(1)},
    "srun -n1 for each task": {**tf_config(1), **slurm(0, 1)},
    "evaluator inside": {**tf_config(0, "evaluator", **EVALUATOR), **slurm(2, 3)},
    "evaluator outside": {**tf_config(0, "evaluator"), **slurm(2, 3)},
    "with ps in any order": {**tf_config(0, "ps", **WITH_PS), **slurm(0, 3)},
    "several tasks from one process on each host": {**tf_config(3, **ON_TWO_HOSTS), **slurm(1)},
}


@pytest.mark.parametrize("name", AGREE)
def test_tf_config_is_followed_when_the_scheduler_agrees(name):
    assert resolve(AGREE[name]).source == "TF_CONFIG"


DISAGREE = {
    "the same TF_CONFIG for every rank": (
        {**tf_config(0), **slurm(1)},
        "TF_CONFIG says that this is worker 0 of 2 tasks, and Slurm says that it is rank 1 of 2; "
        "unset the variables of the one that is wrong.",
    ),
    "another number of tasks": (
        {**tf_config(1), **slurm(1, 4)},
        "TF_CONFIG says that this is worker 1 of 2 tasks, and Slurm says that it is rank 1 of 4",
    ),
    "a cluster of one for several ranks": (
        {**tf_config(0, worker=["h1:1"]), **slurm(0)},
        "TF_CONFIG says that this is worker 0 of 1 tasks, and Slurm says that it is rank 0 of 2",
    ),
    "TF_CONFIG and MPI": (
        {**tf_config(0), "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "3"},
        "and MPI says that it is rank 0 of 3",
    ),
    "TF_CONFIG and SageMaker": (
        {**tf_config(0), "SM_HOSTS": '["a", "b", "c"]', "SM_CURRENT_HOST": "c"},
        "and SageMaker says that it is rank 2 of 3",
    ),
    "TF_CONFIG and Kubernetes": (
        {**tf_config(0), "TFDIST_TASKS": "worker=2", "JOB_COMPLETION_INDEX": "1"},
        "and Kubernetes says that it is rank 1 of 2",
    ),
    "Slurm and SageMaker": (
        {**slurm(0, 2), "SM_HOSTS": '["a", "b", "c"]', "SM_CURRENT_HOST": "c"},
        "Slurm says that this is worker 0 of 2 tasks, and SageMaker says that it is rank 2 of 3",
    ),
}


@pytest.mark.parametrize("name", DISAGREE)
def test_two_sources_that_disagree_are_both_shown(name):
    env, message = DISAGREE[name]
    with pytest.raises(UsageError) as caught:
        resolve(env)
    assert message in str(caught.value)


def test_a_scheduler_that_cannot_be_followed_does_not_matter_beside_tf_config():
    env = {**tf_config(1), **slurm(1, SLURM_DISTRIBUTION="arbitrary")}
    assert resolve(env).source == "TF_CONFIG"
    assert resolve({**tf_config(1), "JOB_COMPLETION_INDEX": "1"}).source == "TF_CONFIG"
    assert resolve({**tf_config(1), "PMIX_RANK": "1"}).source == "TF_CONFIG"


def test_tasks_without_a_place_are_refused():
    with pytest.raises(UsageError, match="names 3 tasks and nothing says which one this is; start"):
        resolve({"TFDIST_TASKS": "chief=1,worker=2"})
    assert resolve({"TFDIST_TASKS": "worker=1"}).is_local


@pytest.mark.parametrize(
    ("rank", "size"),
    [
        ("RANK", "WORLD_SIZE"),
        ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
        ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"),
        ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"),
    ],
)
def test_ranks_of_other_launchers_are_refused(rank, size):
    with pytest.raises(UsageError, match=f"^{rank}=1 and {size}=4 say that this is one of several"):
        resolve({rank: "1", size: "4"})
    assert resolve({rank: "0", size: "1"}).is_local
    assert resolve({size: "4"}).is_local
    assert resolve({rank: "1", size: "4", **tf_config(1)}).num_workers == 2
