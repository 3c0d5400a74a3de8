import json
import os
import signal

import pytest

from tests.processes import run_alone, run_tasks
from tfdist.errors import UsageError
from tfdist.factory import mpi
from tfdist.factory.devices import Devices
from tfdist.factory.multi_worker import check_transport
from tfdist.factory.wire import check_compression

_TRAIN = """
import json, os
import tensorflow as tf
tf.config.threading.set_inter_op_parallelism_threads(1)  # with which RING waits for ever
import tfdist
strategy = tfdist.strategy()
import keras, numpy as np
from tfdist.factory import current
context = current()
with strategy.scope():
    started = {
        name: tf.Variable(tf.cast(context.cluster.rank + 3, name)) for name in
        ("bfloat16", "int8", "int16", "uint8", "uint16", "uint32", "int64", "float16", "bool")
    }
rank = tf.constant(context.cluster.rank + 1.0)
print(json.dumps({
    "started": {k: [v.dtype.name, float(tf.cast(v, "float32"))] for k, v in started.items()},
    "kind": type(strategy).__name__,
    "name": context.choice.name,
    "sum": float(strategy.reduce("SUM", strategy.run(lambda: rank), axis=None)),
    "replicas": [context.num_replicas, strategy.num_replicas_in_sync, context.num_workers],
    "devices": strategy.extended.worker_devices,
    "gathered": context.channel.gather("rank", context.cluster.rank),
    "seed": context.seed,
    "drawn": [float(np.random.rand()), float(keras.random.uniform(()))],
    "shuffled": list(map(int, tf.data.Dataset.range(100).shuffle(100).take(9))),
    "cores": sorted(os.sched_getaffinity(0)),
    "threads": tf.config.threading.get_inter_op_parallelism_threads(),
    "same_again": tfdist.strategy() is strategy,
    "caught": open("/proc/self/status").read().split("SigCgt:")[1].split()[0],
}))
"""


@pytest.fixture(scope="module")
def results():
    return run_tasks(_TRAIN, workers=2)


@pytest.fixture(scope="module")
def printed(results):
    assert [result.returncode for result in results] == [0, 0], results
    return [json.loads(result.stdout) for result in results]


def test_an_all_reduce_of_rank_plus_one(printed):
    assert [worker["sum"] for worker in printed] == [3.0, 3.0]


def test_each_has_cores_of_its_own_and_threads_enough(printed):
    cores = sorted(os.sched_getaffinity(0))
    own = [worker["cores"] for worker in printed]
    if len(cores) > 1:
        assert not set(own[0]) & set(own[1])
        assert [len(each) for each in own] == [len(cores) // 2] * 2
    else:
        assert own == [cores] * 2
    assert [worker["threads"] for worker in printed] == [2, 2]


def test_what_was_built(printed):
    for rank, worker in enumerate(printed):
        assert (worker["kind"], worker["name"]) == ("CollectiveAllReduceStrategy", "multi_worker")
        assert worker["replicas"] == [2, 2, 2]
        assert worker["devices"] == [f"/job:worker/replica:0/task:{rank}/device:CPU:0"]


def test_variables_of_every_type_start_with_the_values_of_the_chief(printed):
    for worker in printed:
        assert len(worker["started"]) == 9
        for kind, found in worker["started"].items():
            assert found == [kind, 1.0 if kind == "bool" else 3.0]


def test_the_channel_stays_open(printed):
    assert [worker["gathered"] for worker in printed] == [[0, 1], [0, 1]]


def test_all_workers_draw_the_same_random_numbers(printed):
    assert [worker["seed"] for worker in printed] == [0, 0]
    assert printed[0]["drawn"] == printed[1]["drawn"]
    assert printed[0]["shuffled"] == printed[1]["shuffled"]


def test_asked_again_in_the_same_process(printed):
    assert [worker["same_again"] for worker in printed] == [True, True]


def test_sigterm_still_ends_a_task(printed):
    for worker in printed:
        assert not int(worker["caught"], 16) >> (signal.SIGTERM - 1) & 1


def test_tasks_that_differ_are_refused_on_both():
    script = """
import json, os, tfdist
tfdist.strategy(seed=json.loads(os.environ["TF_CONFIG"])["task"]["index"])
"""
    for result in run_tasks(script, workers=2):
        assert result.returncode == 2
        assert "\nseed is 0 on worker 0 and 1 on worker 1" in f"\n{result.stderr}"
        assert "Traceback" not in result.stderr


def test_a_cluster_of_one_worker_by_name():
    script = """
import tfdist
strategy = tfdist.strategy("multi_worker")
import tensorflow as tf
total = strategy.reduce("SUM", strategy.run(lambda: tf.constant(4.0)), axis=None)
print(type(strategy).__name__, strategy.num_replicas_in_sync, float(total))
"""
    (result,) = run_tasks(script, workers=1)
    assert result.stdout == "CollectiveAllReduceStrategy 1 4.0\n", result.stderr


def test_tensorflow_ran_too_early():
    script = """
import tensorflow as tf, tfdist
dataset = tf.data.Dataset.range(3)
tfdist.strategy(wait_seconds=20)
"""
    config = {"worker": ["localhost:20000", "localhost:20001"]}
    task = {"type": "worker", "index": 0}
    env = {"TF_CONFIG": json.dumps({"cluster": config, "task": task})}
    result = run_alone(script, env=env)
    assert result.returncode == 2
    assert "multi_worker can no longer be set up; tfdist.strategy() must come" in result.stderr
    assert "move `dataset` (_RangeDataset, in script.py) behind it" in result.stderr


@pytest.mark.parametrize(
    ("transport", "message"),
    [
        ("tcp", "'tcp' is unknown: choose one of auto, ring, nccl, mpi"),
        ("nccl", "'nccl' is for GPUs, and there is 1 CPU device: use ring or auto"),
    ],
)
def test_transports_that_cannot_be(transport, message):
    with pytest.raises(UsageError, match=message):
        check_transport(transport, Devices("CPU", 1))


@pytest.mark.parametrize(
    ("compression", "transport", "message"),
    [
        ("zip", "ring", "'zip' is unknown: choose one of none, factors, bf16, fp16"),
        (
            "bf16",
            "nccl",
            "with transport 'nccl', which sends whole gradients in float32",
        ),
    ],
)
def test_compressions_that_cannot_be(compression, transport, message):
    with pytest.raises(UsageError, match=message):
        check_compression(compression, transport)


@pytest.mark.parametrize(
    ("kind", "env"),
    [
        ("GPU", {"OMPI_COMM_WORLD_SIZE": "2"}),
        ("CPU", {}),
        ("CPU", {"PMI_SIZE": "2", "SLURM_PROCID": "0"}),
    ],
)
def test_mpi_is_no_choice_for_gpus_or_where_mpirun_did_not_start_the_process(kind, env):
    assert mpi.ranks(Devices(kind, 1), env) == 0
