"""Kubernetes: Indexed Jobs and JobSets."""

import socket

import pytest

from tfdist.cluster import Task, resolve
from tfdist.errors import UsageError


def job(index=1, tasks="worker=3", **changes):
    """A pod of an Indexed Job "fit" whose subdomain is "net"."""
    given = {"TFDIST_TASKS": tasks} if tasks else {}
    return {
        "JOB_COMPLETION_INDEX": str(index),
        "HOSTNAME": f"fit-{index}",
        "TFDIST_SERVICE": "net",
        **given,
        **changes,
    }


@pytest.mark.parametrize("index", [0, 1, 2])
def test_indexed_job(index):
    cluster = resolve(job(index))
    assert cluster.source == "Kubernetes"
    assert cluster.task == Task("worker", index)
    assert dict(cluster.jobs["worker"]) == {i: f"fit-{i}.net:2222" for i in range(3)}


def test_roles_by_index():
    cluster = resolve(job(3, "chief=1,worker=2,ps=1"))
    assert cluster.task == Task("ps", 0)
    assert cluster.address(Task("worker", 1)) == "fit-2.net:2222"


def test_more_than_nine_pods():
    cluster = resolve(job(11, "worker=12"))
    assert cluster.address(Task("worker", 10)) == "fit-10.net:2222"
    assert cluster.address(cluster.task) == "fit-11.net:2222"


def test_the_service_is_found_in_the_full_name_of_the_pod(monkeypatch):
    env = job()
    del env["TFDIST_SERVICE"]
    monkeypatch.setattr(socket, "getfqdn", lambda name: f"{name}.net.ns.svc.cluster.local")
    assert resolve(env).address(Task("worker", 0)) == "fit-0.net.ns.svc.cluster.local:2222"


def test_port():
    assert resolve(job(TFDIST_PORT="7000")).address(Task("worker", 0)) == "fit-0.net:7000"


def jobset(role, index, **changes):
    return {
        "JOBSET_NAME": "run",
        "REPLICATED_JOB_NAME": role,
        "JOB_COMPLETION_INDEX": str(index),
        "HOSTNAME": f"run-{role}-0-{index}",
        "TFDIST_TASKS": "chief=1,worker=2,ps=1",
        "TFDIST_SERVICE": "run",
        **changes,
    }


@pytest.mark.parametrize(("role", "index"), [("chief", 0), ("worker", 0), ("worker", 1), ("ps", 0)])
def test_jobset_with_a_replicated_job_for_each_job(role, index):
    cluster = resolve(jobset(role, index))
    assert cluster.task == Task(role, index)
    assert dict(cluster.jobs["worker"]) == {
        0: "run-worker-0-0.run:2222",
        1: "run-worker-0-1.run:2222",
    }
    assert cluster.address(Task("chief", 0)) == "run-chief-0-0.run:2222"
    assert cluster.address(Task("ps", 0)) == "run-ps-0-0.run:2222"


def test_jobset_with_one_replicated_job_of_any_name():
    cluster = resolve(jobset("node", 1, TFDIST_TASKS="worker=2"))
    assert cluster.task == Task("worker", 1)
    assert cluster.address(Task("worker", 0)) == "run-node-0-0.run:2222"


def test_a_job_of_one_is_alone():
    assert resolve(job(0, "worker=1")).is_local


WRONG = {
    "no number": (
        job(0, None),
        "Kubernetes: this is pod 0 of an Indexed Job (JOB_COMPLETION_INDEX) and nothing says of "
        "how many; set TFDIST_TASKS in the manifest, to worker=4 for example, or to worker=1 when "
        "each pod trains for itself.",
    ),
    "index too large": (job(3), "this pod is 3 and TFDIST_TASKS=worker=3 does not have it; name"),
    "role not named": (jobset("worker", 2), "this pod is worker 2 and TFDIST_TASKS=chief=1,work"),
    "host name of one's own": (
        job(HOSTNAME="mine"),
        "the host name 'mine' does not end in the pod's index 1; set spec.completionMode to Index",
    ),
    "no job": (job(tasks="workers=3"), "TFDIST_TASKS has 'workers=3' where a job (chief, worker"),
    "no count": (job(tasks="worker"), "TFDIST_TASKS has 'worker' where a job"),
    "empty": (job(TFDIST_TASKS=""), "TFDIST_TASKS has '' where a job"),
    "bad port": (job(TFDIST_PORT="0"), "has the port 0; a port is a number from 1 to 65535"),
    "bad index": (job("x", HOSTNAME="fit-x"), "JOB_COMPLETION_INDEX is 'x' and must be a whole"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name):
    env, message = WRONG[name]
    with pytest.raises(UsageError) as caught:
        resolve(env)
    assert message in str(caught.value)
    assert ". " not in str(caught.value)


def test_pods_without_a_subdomain_are_refused(monkeypatch):
    env = job()
    del env["TFDIST_SERVICE"]
    monkeypatch.setattr(socket, "getfqdn", lambda name: name)
    with pytest.raises(UsageError, match="the pods have no subdomain, so they cannot find each"):
        resolve(env)
