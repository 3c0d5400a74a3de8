"""Kubeflow's TFJob."""

import json

import pytest

from tfdist.cluster import Task, resolve
from tfdist.errors import UsageError

SERVICE = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}
JOBS = {
    "chief": ["fit-chief-0.ns.svc:2222"],
    "worker": ["fit-worker-0.ns.svc:2222", "fit-worker-1.ns.svc:2222"],
    "ps": ["fit-ps-0.ns.svc:2222"],
}


def pod(cluster, job, index, **more):
    task = {"type": job, "index": index}
    return {**SERVICE, "TF_CONFIG": json.dumps({"cluster": cluster, "task": task, **more})}


def test_a_pod_of_a_tfjob():
    cluster = resolve(pod(JOBS, "ps", 0, environment="cloud"))
    assert cluster.source == "Kubeflow TFJob"
    assert cluster.task == Task("ps", 0)
    assert cluster.address(Task("worker", 1)) == "fit-worker-1.ns.svc:2222"


def test_the_evaluator_is_not_in_the_cluster():
    assert resolve(pod(JOBS, "evaluator", 0, environment="cloud")).is_evaluator


def test_a_tf_config_of_one_s_own_in_a_pod_is_that():
    assert resolve(pod(JOBS, "ps", 0)).source == "TF_CONFIG"


def test_dynamic_workers_are_refused():
    sparse = {"worker": {"0": "fit-worker-0.ns.svc:2222"}, "ps": JOBS["ps"]}
    env = pod({}, "worker", 0, environment="cloud", sparseCluster=sparse)
    with pytest.raises(UsageError, match="set enableDynamicWorker to false in the TFJob"):
        resolve(env)


def test_errors_name_the_tfjob():
    with pytest.raises(UsageError, match=r"^Kubeflow TFJob: the task's index is 7"):
        resolve(pod(JOBS, "worker", 7, environment="cloud"))
