"""An export serves where tfdist is not, and is the same whoever wrote it."""

import json
import os
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tests.checkpoint.small import data, momentum
from tests.checkpoint.small import model as small_model
from tests.conformance.strategies import STRATEGIES
from tests.processes import hold_ports, run_alone, run_tasks
from tfdist.checkpoint.exporting import KERAS, SAVED_MODEL, check, export
from tfdist.errors import FailedError, UsageError

SERVE = """
import json, sys
sys.modules["tfdist"] = None
import keras, numpy as np, tensorflow as tf
assert len(tf.config.list_logical_devices()) == 1
rows = np.array(json.loads(sys.argv[2]), "float32")
model = keras.models.load_model(sys.argv[1] + "/model.keras")
loaded = tf.saved_model.load(sys.argv[1] + "/saved_model")
served = loaded.serve(rows)
assert not model.compiled
print(json.dumps([model(rows).numpy().tolist(), served.numpy().tolist()]))
"""
# Servers and chief in one process; every variable is kept in two parts.
SHARDED = """
import os, sys
import numpy as np, tensorflow as tf
from tests.checkpoint import small
from tfdist.checkpoint import variables
from tfdist.checkpoint.exporting import export
import keras
names = [("ps", 0), ("ps", 1), ("worker", 0)]
addresses = ["127.0.0.1:%d" % port for port in {ports}]
spec = tf.train.ClusterSpec({{"ps": addresses[:2], "worker": addresses[2:]}})
servers = [tf.distribute.Server(spec, job_name=job, task_index=i) for job, i in names]
resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(spec, rpc_layer="grpc")
halves = tf.distribute.experimental.partitioners.FixedShardsPartitioner(2)
strategy = tf.distribute.ParameterServerStrategy(resolver, variable_partitioner=halves)
with strategy.scope():
    model = small.model(small.momentum())
assert {{type(v._value).__name__ for v in model.weights}} == {{"ShardedVariable"}}
saved = [v for v in variables.values(model) if v.kind == "weight"]
wanted = [variables.Value(v.kind, v.path, v.array + 1) for v in saved]
variables.restore(model, "there", wanted, metrics=False, only="weight")
back = [v.array for v in variables.values(model) if v.kind == "weight"]
found = keras.models.load_model(export(model, {folder!r}) / "model.keras").get_weights()
def same(left, right):
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))
weights = [variables.number(v) for v in model.weights]
print("RESULT", same(back, [v.array for v in wanted]), same(found, weights), flush=True)
try:
    model.fit(small.data(), verbose=0)
except Exception as error:
    print("REFUSED", type(error).__name__, error, flush=True)
os._exit(0)
"""
ROWS = np.arange(16, dtype="float32").reshape(2, 8) / 7


@keras.saving.register_keras_serializable("tests")
class Doubled(keras.layers.Layer):
    def call(self, inputs):
        return 2 * inputs


class Subclassed(keras.Model):
    """A model of the user's own, which Keras knows by its class alone."""

    def __init__(self, units=3, **options):
        super().__init__(**options)
        self.units = units
        self.dense = keras.layers.Dense(units)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return super().get_config() | {"units": self.units}


class Secret(Subclassed):
    """Is not made again as it was: its configuration does not say how wide it is."""

    def __init__(self, width):
        super().__init__(width)

    def get_config(self):
        return {"width": 1}


def served(folder, rows=ROWS):
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CUDA_VISIBLE_DEVICES")}
    words = [sys.executable, "-c", SERVE, str(folder), json.dumps(rows.tolist())]
    done = subprocess.run(words, env=env, cwd="/", capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [np.array(each) for each in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize("name", ["mirrored", "central_storage"])
def test_serves_without_tfdist(name, tmp_path):
    with STRATEGIES[name].make().scope():
        model = small_model(momentum())
    model.fit(data(), epochs=1, verbose=0)
    folder = export(model, tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["final"]
    expected = model.predict(ROWS, verbose=0)
    for outputs in served(folder):
        np.testing.assert_allclose(outputs, expected, rtol=1e-5)


def test_layers_that_have_more_than_weights(tmp_path):
    layers = keras.layers
    vocabulary, scaled = layers.IntegerLookup(), layers.Normalization()
    vocabulary.adapt(np.array([3, 5, 5, 7]))
    scaled.adapt(np.array([[1.0], [9.0]]))
    inputs = keras.Input((1,), dtype="int64")
    numbers = layers.Flatten()(layers.Embedding(9, 4)(vocabulary(inputs)))
    joined = layers.Concatenate()([numbers, scaled(inputs)])
    model = keras.Model(inputs, layers.Dense(2)(joined))
    rows = np.array([[3], [5], [8]])
    served = tf.saved_model.load(export(model, tmp_path) / SAVED_MODEL)
    again = keras.models.load_model(tmp_path / "final" / KERAS)
    np.testing.assert_allclose(served.serve(rows), model(rows), rtol=1e-5)
    np.testing.assert_allclose(again(rows), model(rows), rtol=1e-5)


def test_what_was_there_is_replaced_as_a_whole(tmp_path, monkeypatch):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1), Doubled()])
    folder = export(model, tmp_path)
    (folder / "left over").write_text("")
    before = (folder / KERAS).stat().st_mtime_ns
    with monkeypatch.context() as patch:
        patch.setattr(keras.Model, "export", lambda *words, **options: os.listdir("/none"))
        with pytest.raises(FailedError, match=r"the model could not be exported to .*final"):
            export(model, tmp_path)
    assert os.listdir(tmp_path) == ["final"]
    assert (folder / KERAS).stat().st_mtime_ns == before
    model.layers[0].kernel.assign([[1.0], [2.0]])
    export(model, tmp_path)
    assert sorted(os.listdir(folder)) == [KERAS, SAVED_MODEL]
    assert keras.models.load_model(folder / KERAS)(np.ones((1, 2)))[0, 0] == 6


def test_a_model_of_the_users_own_class(tmp_path):
    model = tfdist.distribute(Subclassed(units=4))
    model.compile("sgd", "mse")
    model.fit(ROWS, np.ones((2, 4)), verbose=0)
    check(model, tmp_path)
    folder = export(model, tmp_path, "mine")
    again = keras.models.load_model(folder / KERAS, custom_objects={"Subclassed": Subclassed})
    np.testing.assert_allclose(again(ROWS), model(ROWS), rtol=1e-6)


def test_what_cannot_be_made_again_is_refused_before_training(tmp_path):
    model = Secret(2)
    model(ROWS)
    with pytest.raises(UsageError, match=r"Secret cannot be exported, .*: give its classes a get"):
        check(model, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"exports cannot be written to .*: give a"):
        check(Subclassed(1), tmp_path / "file" / "folder")


def test_variables_in_parts_on_two_servers_are_put_together(tmp_path):
    with hold_ports(3) as ports:
        done = run_alone(SHARDED.format(ports=ports, folder=str(tmp_path)))
    assert "RESULT True True" in done.stdout, done.stderr
    assert "REFUSED UsageError " in done.stdout, done.stdout
    assert "is cut into parts by a variable_partitioner" in done.stdout, done.stdout


def test_a_run_of_two_workers_exports_once_what_it_ended_with(tmp_path):
    words = ["-m", "tfdist.train", "--global_batch_size=256", "--verbose=0"]
    ended = run_tasks([*words, f"--export_dir={tmp_path}"], workers=2)
    assert [task.returncode for task in ended] == [0, 0], ended
    record = json.loads(ended[0].stdout.splitlines()[-1])
    weights = keras.models.load_model(tmp_path / "final" / KERAS).get_weights()
    from tfdist.run.record import digest

    assert digest(weights) == record["weights_digest"]
