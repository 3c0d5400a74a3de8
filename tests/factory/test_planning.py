import pytest

from tfdist.cluster import Cluster, Task
from tfdist.factory.devices import Request, parse
from tfdist.factory.planning import _of_this_task, plan

_JOBS = {"chief": {0: "a:1"}, "worker": {0: "b:1"}, "ps": {0: "c:1"}}


@pytest.mark.parametrize(
    ("task", "text", "request_"),
    [
        ("chief", None, Request("CPU")),
        ("chief", "gpu:2", Request("CPU")),
        ("chief", "cpu:2", Request("CPU", 2)),
        ("ps", "gpu", Request("CPU")),
        ("worker", "gpu:2", Request("GPU", 2)),
        ("worker", None, Request()),
        ("evaluator", "gpu:2", Request("GPU", 2)),
    ],
)
def test_under_parameter_servers_only_workers_take_gpus(task, text, request_):
    assert _of_this_task(parse(text), Cluster(_JOBS, Task(task, 0))) == request_


def test_a_chief_of_workers_in_step_trains_too():
    jobs = {"chief": {0: "a:1"}, "worker": {0: "b:1"}}
    assert _of_this_task(parse("gpu:2"), Cluster(jobs, Task("chief", 0))) == Request("GPU", 2)


def test_the_environment_gives_the_cluster(monkeypatch):
    monkeypatch.setenv(
        "TF_CONFIG",
        '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}',
    )
    planned = plan(devices="cpu")
    assert planned.choice.name == "multi_worker"
    assert planned.cluster.task == Task("worker", 1)
    assert str(planned.devices) == "1 CPU device"
