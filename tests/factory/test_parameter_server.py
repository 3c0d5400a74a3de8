import json

import pytest

from tests.processes import run_tasks
from tfdist.cluster import Cluster, Task
from tfdist.factory.devices import Devices, Request
from tfdist.factory.parameter_server import _config
from tfdist.factory.resolver import position, spec

_COORDINATE = """
import json
import tfdist
strategy = tfdist.strategy()
import tensorflow as tf
from tfdist.factory import current
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
with strategy.scope():
    total = tf.Variable(0.0)
@tf.function
def add(x):
    total.assign_add(x)
    return 2 * x
results = [coordinator.schedule(add, args=(tf.constant(float(i)),)) for i in range(10)]
coordinator.join()
context = current()
import keras
with strategy.scope():
    layers = [keras.layers.Input((2,), dtype="int32"), keras.layers.Embedding(50, 4)]
    model = tfdist.distribute(keras.Sequential(layers))
look_up = tf.function(model, input_signature=[tf.TensorSpec([None, 2], tf.int32)])
operations = look_up.get_concrete_function().graph.get_operations()
table = model.get_weights()[0]
found = look_up(tf.constant([[7, -1], [0, 7]]))
print(json.dumps({
    "gathered_by": [op.type for op in operations if "Gather" in op.type or "Read" in op.type],
    "rows": bool((found.numpy() == table[[[7, 49], [0, 7]]]).all()),
    "name": context.choice.name,
    "workers": [context.num_workers, context.num_replicas],
    "total": float(total),
    "on": total.device,
    "results": sorted(float(x) for x in coordinator.fetch(results)),
    "same_again": tfdist.strategy() is strategy,
}))
"""
_SIZES = {"workers": 2, "ps": 1, "chief": True}


@pytest.fixture(scope="module")
def results():
    return run_tasks(_COORDINATE, **_SIZES)


def test_every_process_ends_with_0_by_itself(results):
    assert [result.returncode for result in results] == [0, 0, 0, 0], results


def test_scheduled_steps_give_their_values(results):
    printed = json.loads(results[0].stdout)
    assert printed["results"] == [2.0 * i for i in range(10)]
    assert printed["total"] == 45.0
    assert printed["on"] == "/job:ps/replica:0/task:0/device:CPU:0"
    assert (printed["name"], printed["workers"]) == ("parameter_server", [2, 2])
    assert printed["same_again"]


def test_a_worker_fetches_the_rows_of_an_embedding_and_not_the_table(results):
    printed = json.loads(results[0].stdout)
    assert printed["gathered_by"] == ["ResourceGather"]
    assert printed["rows"]


def test_servers_say_what_they_do(results):
    for result in results[1:]:
        assert result.stdout == ""
        assert f"tfdist: {result.task} serves at 127.0.0.1:" in result.stderr
        assert f"{result.task} ends with code 0: the chief has finished" in result.stderr


def test_servers_outlive_the_chief_so_that_it_ends_in_silence(results):
    assert "failed to connect" not in results[0].stderr


def test_a_chief_that_raises_ends_its_servers():
    chief, *servers = run_tasks(
        "import tfdist; tfdist.strategy(); raise RuntimeError('mine')", **_SIZES, timeout_seconds=60
    )
    assert chief.returncode == 1
    assert chief.stderr.rstrip().endswith("RuntimeError: mine")
    assert [server.returncode for server in servers] == [1, 1, 1]
    assert all("ends with code 1: the chief has failed" in server.stderr for server in servers)


def test_a_chief_that_dies_makes_its_servers_start_again():
    _, *servers = run_tasks(
        "import os, tfdist; tfdist.strategy(); os._exit(9)", **_SIZES, timeout_seconds=60
    )
    assert [server.returncode for server in servers] == [75, 75, 75]
    assert all("ends with code 75: the chief is gone" in server.stderr for server in servers)


SPARSE = Cluster(
    {
        "chief": {0: "a:1"},
        "worker": {1: "b:1", 4: "c:1", 11: "d:1"},
        "ps": {2: "e:1"},
        "evaluator": {0: "f:1"},
    },
    Task("worker", 11),
)


def test_tensorflow_is_given_a_cluster_without_gaps_or_evaluators():
    assert spec(SPARSE).as_dict() == {
        "chief": ["a:1"],
        "worker": ["b:1", "c:1", "d:1"],
        "ps": ["e:1"],
    }
    assert position(SPARSE) == 2


def test_a_server_has_more_threads_than_there_are_workers(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    config = _config(SPARSE, Devices("CPU", 1), Request())
    assert config.inter_op_parallelism_threads == 4
    assert config.device_count["GPU"] == 0


@pytest.mark.parametrize(
    ("request_", "visible"),
    [
        (Request("GPU", 2, (0, 3)), "0,3"),
        (Request("GPU", 2), "0,1"),
        (Request("GPU"), ""),
        (Request(), ""),
    ],
)
def test_a_server_sees_the_gpus_that_were_asked_for(request_, visible):
    config = _config(SPARSE, Devices("GPU", 2), request_)
    assert config.gpu_options.visible_device_list == visible
    assert "GPU" not in config.device_count
