"""Amazon SageMaker."""

import json

import pytest

from tfdist.cluster import Task, resolve
from tfdist.errors import UsageError


def host(own, hosts=("algo-1", "algo-2")):
    return {"SM_HOSTS": json.dumps(list(hosts)), "SM_CURRENT_HOST": own}


def test_hosts():
    cluster = resolve(host("algo-2"))
    assert cluster.source == "SageMaker"
    assert cluster.task == Task("worker", 1)
    assert dict(cluster.jobs["worker"]) == {0: "algo-1:2222", 1: "algo-2:2222"}


def test_more_than_nine_hosts_are_counted():
    as_sagemaker_sorts = sorted(f"algo-{number}" for number in range(1, 12))
    cluster = resolve(host("algo-2", as_sagemaker_sorts))
    assert cluster.task == Task("worker", 1)
    assert cluster.address(Task("worker", 10)) == "algo-11:2222"


def test_one_host_is_alone():
    assert resolve(host("algo-1", ["algo-1"])).is_local


def test_parameter_servers_of_its_own_launcher_agree():
    # It starts a ps beside the master and each worker: more tasks than hosts.
    jobs = {"master": ["algo-1:2222"], "worker": ["algo-2:2222"]}
    jobs["ps"] = ["algo-1:2223", "algo-2:2223"]
    config = json.dumps({"cluster": jobs, "task": {"type": "ps", "index": 1}})
    assert resolve({**host("algo-2"), "TF_CONFIG": config}).task == Task("ps", 1)


WRONG = {
    "unknown host": (host("algo-7"), "SM_CURRENT_HOST=algo-7 is not in SM_HOSTS="),
    "no own host": ({"SM_HOSTS": '["a", "b"]'}, "SM_CURRENT_HOST= is not in SM_HOSTS="),
    "no list": ({"SM_HOSTS": "algo-1,algo-2"}, "SM_HOSTS=algo-1,algo-2 is no list of host names"),
    "no names": ({"SM_HOSTS": "[1, 2]"}, "SM_HOSTS=[1, 2] is no list of host names"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    env, message = WRONG[name]
    with pytest.raises(UsageError) as caught:
        resolve(env)
    assert message in str(caught.value)
