"""One description of the cluster for each task, and its share of the processor."""

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.cluster.environments import ENVIRONMENTS
from tfdist.launch import environment as launch_environment
from tfdist.launch.environment import OTHER_CLUSTERS, passed_on, variables

TWO = Cluster({"worker": {0: "h:1", 1: "h:2"}}, Task("worker", 1))
PS = Cluster({"chief": {0: "h:1"}, "worker": {0: "h:2", 1: "h:3"}, "ps": {0: "h:4"}}, Task("ps", 0))
# What each environment sets when it has started several tasks.
SCHEDULERS = {
    "Slurm": {"SLURM_JOB_ID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"},
    "MPI": {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0", "PMIX_RANK": "0"},
    "MPI with a hydra": {"PMI_SIZE": "2", "PMI_RANK": "0", "MPI_LOCALNRANKS": "2"},
    "Kubernetes": {"JOB_COMPLETION_INDEX": "0", "TFDIST_TASKS": "worker=2"},
    "SageMaker": {"SM_HOSTS": '["a", "b"]', "SM_CURRENT_HOST": "a"},
    "Vertex AI": {
        "CLUSTER_SPEC": '{"cluster": {"workerpool0": ["a:1"], "workerpool1": ["b:1"]},'
        ' "task": {"type": "workerpool0", "index": 0}}'
    },
    "TF_CONFIG": {"TF_CONFIG": "{}"},
}


def set_environment(monkeypatch, **values):
    monkeypatch.setattr(launch_environment, "environment", lambda: values)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_no_other_description_reaches_a_task(name):
    env = SCHEDULERS[name]
    assert any(each.detect(env) for each in ENVIRONMENTS)
    kept = {key: value for key, value in env.items() if not key.startswith(OTHER_CLUSTERS)}
    assert not any(each.detect(kept) for each in ENVIRONMENTS)


@pytest.mark.parametrize(
    ("cluster", "cores", "intra", "inter"),
    [(TWO, 4, "4", "4"), (TWO, 1, "1", "2"), (TWO, 0, "1", "2"), (PS, 1, "1", "3")],
)
def test_shares_of_the_processor(monkeypatch, cluster, cores, intra, inter):
    set_environment(monkeypatch)
    given = variables(cluster, cores)
    assert given["TF_CONFIG"] == cluster.tf_config()
    assert given["OMP_NUM_THREADS"] == given["TF_NUM_INTRAOP_THREADS"] == intra
    assert given["TF_NUM_INTEROP_THREADS"] == inter


def test_without_a_ring_one_thread_is_enough(monkeypatch):
    set_environment(monkeypatch)
    assert variables(Cluster(), 1)["TF_NUM_INTEROP_THREADS"] == "1"


def test_what_the_user_set_stays(monkeypatch):
    set_environment(monkeypatch, OMP_NUM_THREADS="7")
    assert "OMP_NUM_THREADS" not in variables(TWO, 1)


def test_another_host_is_given_what_libraries_read_and_what_is_named(monkeypatch):
    ours = {"TF_X": "1", "PYTHONPATH": "p", "PATH": "b", "NCCL_DEBUG": "INFO"}
    others = {"TF_CONFIG": "{}", "SLURM_PROCID": "0", "HOME": "/h", "SSH_AUTH_SOCK": "s"}
    set_environment(monkeypatch, **ours, **others, MINE="m")
    assert passed_on() == ours
    assert passed_on(("MINE",)) == {**ours, "MINE": "m"}
