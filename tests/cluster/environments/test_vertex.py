"""Google Vertex AI."""

import json

import pytest

from tfdist.cluster import Task, resolve
from tfdist.errors import UsageError

POOLS = {
    "workerpool0": ["cmle-training-workerpool0-ab-0:2222"],
    "workerpool1": ["cmle-training-workerpool1-ab-0:2222", "cmle-training-workerpool1-ab-1:2222"],
    "workerpool2": ["cmle-training-workerpool2-ab-0:2222"],
    "workerpool3": ["cmle-training-workerpool3-ab-0:2222"],
}
NAMES = {"chief": "workerpool0", "worker": "workerpool1", "ps": "workerpool2"}


def replica(pool, index=0, pools=POOLS):
    task = {"type": pool, "index": index, "trial": ""}
    spec = {"cluster": pools, "environment": "cloud", "task": task, "job": "{}"}
    return {"CLUSTER_SPEC": json.dumps(spec)}


def tf_config(job, index=0):
    cluster = {job: POOLS[pool] for job, pool in NAMES.items()}  # without the evaluator
    task = {"type": job, "index": index}
    config = {"cluster": cluster, "environment": "cloud", "task": task, "job": {}}
    return {"TF_CONFIG": json.dumps(config)}


TASKS = [
    ("workerpool0", 0, Task("chief", 0)),
    ("workerpool1", 1, Task("worker", 1)),
    ("workerpool2", 0, Task("ps", 0)),
    ("workerpool3", 0, Task("evaluator", 0)),
]


@pytest.mark.parametrize(("pool", "index", "task"), TASKS)
def test_pools(pool, index, task):
    cluster = resolve(replica(pool, index))
    assert cluster.source == "Vertex AI"
    assert cluster.task == task
    assert list(cluster.jobs) == ["chief", "worker", "ps", "evaluator"]
    assert cluster.address(Task("worker", 1)) == "cmle-training-workerpool1-ab-1:2222"


@pytest.mark.parametrize(("pool", "index", "task"), TASKS)
def test_agrees_with_the_tf_config_beside_it(pool, index, task):
    cluster = resolve({**replica(pool, index), **tf_config(task.type, index)})
    assert (cluster.source, cluster.task) == ("TF_CONFIG", task)


def test_chief_and_workers_only():
    pools = {name: POOLS[name] for name in ("workerpool0", "workerpool1")}
    cluster = resolve(replica("workerpool1", 1, pools))
    assert (cluster.rank, cluster.num_workers) == (2, 3)


def test_one_replica_is_alone():
    assert resolve(replica("workerpool0", 0, {"workerpool0": POOLS["workerpool0"]})).is_local


def test_a_cluster_spec_of_something_else_is_none_of_ours():
    assert resolve({"CLUSTER_SPEC": '{"cluster": {"worker": ["a:1"]}}'}).is_local
    assert resolve({"CLUSTER_SPEC": "{}"}).is_local


WRONG = {
    "not JSON": ({"CLUSTER_SPEC": '{"workerpool0"'}, "CLUSTER_SPEC is no JSON object with a"),
    "no task": ({"CLUSTER_SPEC": '{"cluster": {"workerpool0": []}}'}, "is no JSON object with a"),
    "no such replica": (replica("workerpool1", 5), "Vertex AI: the task's index is 5 and the"),
    "unknown pool": (replica("workerpool0", 0, {**POOLS, "workerpool9": ["a:1"]}), "workerpool9"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    env, message = WRONG[name]
    with pytest.raises(UsageError) as caught:
        resolve(env)
    assert message in str(caught.value)
