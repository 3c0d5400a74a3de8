import json

import pytest

from tests.processes import run_alone
from tfdist.errors import UsageError
from tfdist.factory import strategy

_SCRIPT = """
import json, random
import tfdist
from tfdist.factory import current, plan

printed = {}

def devices_of(strategy):
    try:
        return strategy.extended.worker_devices
    except RuntimeError:  # the default strategy does not tell
        return [strategy.run(lambda: tf.constant(0.0)).device]

def show(key, strategy):
    global tf
    import tensorflow as tf
    def step():
        context = tf.distribute.get_replica_context()
        return tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
    with strategy.scope():
        variable = tf.Variable(0.0)
    printed[key] = {
        "kind": type(strategy).__name__,
        "name": current().choice.name,
        "replicas": [strategy.num_replicas_in_sync, current().num_replicas, current().num_workers],
        "devices": [name.rpartition("device:")[2] for name in devices_of(strategy)],
        "sum": float(strategy.reduce("SUM", strategy.run(step), axis=None)),
        "copies": len(getattr(variable, "values", [variable])),
    }

mirrored = tfdist.strategy("mirrored", "cpu:2")
show("mirrored", mirrored)
show("central_storage", tfdist.strategy("central_storage", "cpu:2"))
show("auto", tfdist.strategy(devices="cpu:2"))
show("one device", tfdist.strategy(devices="cpu"))
show("one_device", tfdist.strategy("one_device"))
host_bytes = plan().devices.host_bytes
show("large", tfdist.strategy(devices="cpu:2", needs_bytes=host_bytes * 3 // 4))

again = tfdist.strategy("mirrored", "cpu:2")
printed["same_again"] = tfdist.strategy("mirrored", "cpu:2") is again

def draw(seed):
    import keras, numpy as np, tensorflow as tf
    tfdist.strategy("one_device", seed=seed)
    return [random.random(), float(np.random.rand()), float(tf.random.uniform(())),
            float(keras.random.uniform(()))]
import keras
keras.utils.set_random_seed(5)
reference = draw(None)
printed["reference"], printed["seeded"] = reference, draw(5)
printed["seed"] = current().seed
printed["unseeded"] = draw(None)

def main():
    layer = keras.layers.Dense(3)
    layer.build((None, 4))
    unbuilt = keras.layers.Dense(3)
    tfdist.strategy("mirrored", "cpu:3")
try:
    main()
except tfdist.UsageError as error:
    printed["too early"] = str(error)
print(json.dumps(printed))
"""


@pytest.fixture(scope="module")
def printed():
    result = run_alone(_SCRIPT)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("key", "kind", "name", "devices", "total", "copies"),
    [
        ("mirrored", "MirroredStrategy", "mirrored", ["CPU:0", "CPU:1"], 3.0, 2),
        ("central_storage", "CentralStorageStrategy", "central_storage", ["CPU:0", "CPU:1"], 3, 1),
        ("auto", "MirroredStrategy", "mirrored", ["CPU:0", "CPU:1"], 3.0, 2),
        ("one device", "MirroredStrategy", "mirrored", ["CPU:0"], 1.0, 1),
        ("one_device", "_DefaultDistributionStrategy", "one_device", ["CPU:0"], 1.0, 1),
        ("large", "CentralStorageStrategy", "central_storage", ["CPU:0", "CPU:1"], 3.0, 1),
    ],
)
def test_what_is_built(printed, key, kind, name, devices, total, copies):
    got = printed[key]
    assert (got["kind"], got["name"]) == (kind, name)
    assert got["replicas"] == [len(devices), len(devices), 1]
    assert got["devices"] == devices
    assert got["sum"] == total
    assert got["copies"] == copies


def test_asked_again_in_the_same_process(printed):
    assert printed["same_again"]


def test_a_seed_seeds_everything(printed):
    assert printed["seeded"] == printed["reference"]
    assert printed["seed"] == 5


def test_no_seed_leaves_random_numbers_alone(printed):
    drawn = zip(printed["unseeded"], printed["seeded"], strict=True)
    assert all(next_one != first for next_one, first in drawn)


def test_what_ran_too_early_is_named(printed):
    assert printed["too early"].startswith(
        "TensorFlow already ran in this process, so that other devices can no longer be set up; "
        "tfdist.strategy() must come before the first tensor, dataset, model, optimizer"
    )
    assert "move `layer` (Dense, in script.py)" in printed["too early"]
    assert "unbuilt" not in printed["too early"]


def test_another_backend_of_keras_is_refused(monkeypatch):
    monkeypatch.setattr("keras.config.backend", lambda: "jax")
    with pytest.raises(UsageError, match=r"Keras runs on 'jax' and tf.distribute needs Ten"):
        strategy()


def test_no_strategy_yet():
    script = "import sys, tfdist.factory as f; print('tensorflow' in sys.modules); f.current()"
    result = run_alone(script)
    assert result.stdout == "False\n"
    assert "UsageError: no strategy was built in this process: call tfdist.str" in result.stderr
