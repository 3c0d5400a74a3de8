"""What a Cluster answers about itself."""

import dataclasses
import json
import pickle

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.errors import UsageError

WORKERS = {"worker": {0: "a:1", 1: "b:1"}}
WITH_CHIEF = {"worker": {0: "b:1", 1: "c:1"}, "chief": {0: "a:1"}}
PS = {**WITH_CHIEF, "ps": {0: "d:1", 1: "e:1"}}

#       jobs, task, is_chief, rank, num_workers, serves_only
PLACES = [
    ({}, Task("worker", 0), True, 0, 1, False),
    (WORKERS, Task("worker", 0), True, 0, 2, False),
    (WORKERS, Task("worker", 1), False, 1, 2, False),
    (WORKERS, Task("evaluator", 0), False, None, 2, False),
    (WITH_CHIEF, Task("chief", 0), True, 0, 3, False),
    (WITH_CHIEF, Task("worker", 0), False, 1, 3, False),
    (WITH_CHIEF, Task("worker", 1), False, 2, 3, False),
    (PS, Task("chief", 0), True, None, 2, False),
    (PS, Task("worker", 1), False, 1, 2, True),
    (PS, Task("ps", 1), False, None, 2, True),
    (PS, Task("evaluator", 0), False, None, 2, False),
    ({"worker": {3: "a:1", 11: "b:1", 7: "c:1"}}, Task("worker", 3), True, 0, 3, False),
    ({"worker": {3: "a:1", 11: "b:1", 7: "c:1"}}, Task("worker", 11), False, 2, 3, False),
]


@pytest.mark.parametrize(("jobs", "task", "is_chief", "rank", "num_workers", "serves_only"), PLACES)
def test_place(jobs, task, is_chief, rank, num_workers, serves_only):
    cluster = Cluster(jobs, task, "test")
    assert cluster.is_chief is is_chief
    assert cluster.rank == rank
    assert cluster.num_workers == num_workers
    assert cluster.serves_only is serves_only
    assert cluster.is_evaluator is (task.type == "evaluator")
    assert cluster.is_local is (not jobs)


def test_members_are_in_rank_order():
    members = Cluster(PS, Task("ps", 0), "test").members
    assert list(map(str, members)) == ["chief 0", "worker 0", "worker 1", "ps 0", "ps 1"]
    assert Cluster().members == (Task("worker", 0),)


def test_parameter_servers_are_counted():
    assert Cluster(PS, Task("chief", 0)).num_ps == 2
    assert Cluster(PS, Task("chief", 0)).has_ps
    assert Cluster(WORKERS, Task("worker", 0)).num_ps == 0
    assert not Cluster(WORKERS, Task("worker", 0)).has_ps


def test_address():
    assert Cluster(PS, Task("chief", 0)).address(Task("ps", 1)) == "e:1"


def test_tf_config_is_canonical():
    shuffled = {"ps": {0: "d:1"}, "worker": {1: "c:1", 0: "b:1"}, "chief": {0: "a:1"}}
    assert json.loads(Cluster(shuffled, Task("ps", 0)).tf_config()) == {
        "cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]},
        "task": {"type": "ps", "index": 0},
    }
    assert list(Cluster(shuffled, Task("ps", 0)).jobs) == ["chief", "worker", "ps"]
    assert Cluster().tf_config() == "{}"


def test_is_frozen():
    given = {"worker": {0: "a:1", 1: "b:1"}}
    cluster = Cluster(given, Task("worker", 0))
    given["worker"][0] = "z:1"
    assert cluster.address(Task("worker", 0)) == "a:1"
    with pytest.raises(TypeError):
        cluster.jobs["worker"][0] = "z:1"
    with pytest.raises(dataclasses.FrozenInstanceError):
        cluster.task = Task("worker", 1)


def test_survives_pickling():
    cluster = Cluster(PS, Task("ps", 0), "test", ("a note",), {"cluster": "here"})
    copy = pickle.loads(pickle.dumps(cluster))
    assert copy == cluster
    assert copy.origins == cluster.origins


def test_error_names_the_source():
    with pytest.raises(UsageError, match=r"^Slurm: the address 'a' of worker 0 has no port"):
        Cluster({"worker": {0: "a"}}, Task("worker", 0), "Slurm")
