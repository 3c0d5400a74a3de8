"""What a run says when it starts."""

import types

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.cluster.processor import cores
from tfdist.data.ledger import ledger
from tfdist.factory import Choice, Context, Devices, Plan
from tfdist.factory.devices import Request
from tfdist.run.report import start
from tfdist.run.settings import Settings

ALONE = Cluster()
JOBS = {"chief": {0: "h1:1"}, "worker": {0: "h2:1"}}


class Model:
    optimizer = types.SimpleNamespace(name="adam", learning_rate=0.001)

    def count_params(self):
        return 50_826


def block(cluster=ALONE, replicas=2, channel=None, account=None, **flags):
    choice = Choice("mirrored", "one process has 2 CPU devices", {})
    plan = Plan(choice, cluster, Devices("CPU", 2), Request())
    strategy = types.SimpleNamespace(num_replicas_in_sync=replicas)
    context = Context(plan, "auto", strategy, channel, seed=7)
    account = account or ledger(1437, 32, replicas)
    return start(Settings(global_batch_size=32, **flags), context, account, Model())


def test_one_machine(monkeypatch):
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "1")
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "1")
    title, *lines = block().splitlines()
    assert title.startswith("tfdist ")
    assert [line.strip() for line in lines] == [
        "cluster    this machine alone",
        "strategy   mirrored, because one process has 2 CPU devices",
        "replicas   2, on 2 CPU devices",
        "batch      32 examples (16 on a replica), 45 steps an epoch, 1,437 examples, none dropped",
        "model      mlp, 50,826 parameters, float32",
        "optimizer  adam, learning rate 0.001",
        "seed       7",
        f"settings   TF_CPP_MIN_LOG_LEVEL=1 TF_ENABLE_ONEDNN_OPTS=1 cores={cores()}",
    ]


def test_a_cluster_and_what_was_read_differently():
    cluster = Cluster(JOBS, Task("chief", 0), "TF_CONFIG", notes=("master is the chief here",))
    text = block(cluster, channel=object())
    assert "cluster    1 chief, 1 worker, from TF_CONFIG; this is chief 0\n" in text
    assert " master is the chief here\n" in text
    assert "replicas   2, on 2 CPU devices in each of 2 workers\n" in text


def test_flags_without_effect_are_said():
    text = block(compression="bf16", sync="local", sync_period=16)
    assert (
        "exchange   no gradients between workers under mirrored, so without effect: "
        "--compression=bf16 --sync=local\n"
    ) in text


def test_other_tasks_say_one_line():
    text = block(Cluster(JOBS, Task("worker", 0), "TF_CONFIG"))
    assert text == "tfdist: worker 0 trains, rank 1 of 2; the chief is chief 0\n"


@pytest.mark.parametrize(
    ("account", "said"),
    [
        (ledger(33, 32, 2), "2 steps an epoch, 33 examples, none dropped"),
        (ledger(100, 33, 2, 2), "33 examples (16 or 17 on a replica), 2 steps an epoch"),
        (ledger(100, 33, 2, 2), "100 examples, 34 left out an epoch"),
        (ledger(None, 32, 2), "an unknown number of steps an epoch, an unknown number of examples"),
    ],
)
def test_the_batch_ledger(account, said):
    assert said in block(account=account)
