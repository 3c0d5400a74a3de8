"""Gradients sent as their two factors: the weights of one device, the same bits on both tasks."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf

from tests.processes import run_alone, run_tasks
from tests.transport.mpirun import mpirun
from tfdist.transport import factors
from tfdist.transport.narrow import TYPES

_TRAIN = """
import hashlib, json, sys
import numpy as np
import tfdist
strategy = tfdist.strategy({how}, seed=1)
import keras, tensorflow as tf
from tfdist.transport import factors
calls = []
packed = factors._packed
factors._packed = lambda mine, bits: calls.append(len(mine)) or packed(mine, bits)

class Twice(keras.layers.Layer):  # its kernel is used twice, and a penalty looks at it
    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]), regularizer="l2")
    def call(self, x):
        return keras.ops.matmul(keras.ops.tanh(keras.ops.matmul(x, self.kernel)), self.kernel)

random = np.random.default_rng(0)
x = random.normal(size=(39, 700)).astype("float32")
y = random.integers(0, 3, 39)

def train(jit, clipped):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        layers = [keras.layers.Dense(700, "relu"), keras.layers.Dense(600, "tanh"), Twice()]
        model = tfdist.distribute(keras.Sequential([*layers, keras.layers.Dense(3)]))
        model.compile(
            keras.optimizers.SGD(0.05, momentum=0.9, global_clipnorm=clipped),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
            jit_compile=jit,
        )
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)  # the last batch has 7 rows
    model.fit(data.take(4) if jit else data, epochs=2, shuffle=False, verbose=0)
    return [v.numpy() for v in model.weights + model.optimizer.variables]

values = train(False, None) + train(True, 0.5)
rank = tfdist.factory.current().cluster.rank or 0
np.savez("{folder}/{name}%d.npz" % rank, *values)
digest = hashlib.sha256(b"".join(v.tobytes() for v in values)).hexdigest()
sys.stdout.write(json.dumps({{"digest": digest, "sent": calls}}) + "\\n")
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("factors")
    result = run_alone(_TRAIN.format(how='"one_device"', folder=folder, name="one"))
    assert result.returncode == 0, result.stderr[-3000:]
    assert json.loads(result.stdout)["sent"] == []
    return folder


@pytest.mark.parametrize("transport", ["ring", "mpi"])
def test_a_model_learns_what_one_device_learns(alone, transport):
    how = f'transport="{transport}", compression="factors"'
    script = _TRAIN.format(how=how, folder=alone, name=transport)
    if transport == "ring":
        results = run_tasks(script)
        assert [r.returncode for r in results] == [0, 0], results[0].stderr[-3000:]
        told = [json.loads(r.stdout) for r in results]
    else:
        result = mpirun(script, alone)
        assert result.returncode == 0, result.stderr[-3000:]
        told = list(map(json.loads, result.stdout.splitlines()))
    assert told[0]["digest"] == told[1]["digest"]
    # Of two kernels of the four, each has two factors; the rest is small or used twice.
    assert set(told[0]["sent"]) == {4}
    one, many = np.load(alone / "one0.npz"), np.load(alone / f"{transport}0.npz")
    assert one.files == many.files
    for name in one.files:
        np.testing.assert_allclose(many[name], one[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("transport", ["ring", "mpi"])
def test_factors_in_16_bits_are_near_and_the_same_on_both_tasks(alone, transport):
    how = f'transport="{transport}", compression="factors+bf16"'
    script = _TRAIN.format(how=how, folder=alone, name=f"{transport}16")
    if transport == "ring":
        told = [json.loads(r.stdout) for r in run_tasks(script) if r.returncode == 0]
    else:
        told = list(map(json.loads, mpirun(script, alone).stdout.splitlines()))
    assert len({each["digest"] for each in told}) == 1
    assert [set(each["sent"]) for each in told] == [{4}, {4}]
    one, many = np.load(alone / "one0.npz"), np.load(alone / f"{transport}160.npz")
    apart = [float(np.abs(many[name] - one[name]).max()) for name in one.files]
    assert 1e-5 < max(apart) < 0.05  # bf16 has three digits


_UNLIKE = """
import os
import tfdist
from tfdist.factory import alike
alike._digest = lambda: os.environ["TF_CONFIG"]
tfdist.strategy(transport="ring", compression="factors")
"""


def test_workers_that_round_otherwise_are_refused():
    results = run_tasks(_UNLIKE)
    assert [r.returncode for r in results] == [2, 2]
    for result in results:
        said = r"worker 1 \(\d+ cores\) rounds otherwise than worker 0 .*another compression"
        assert re.search(said, result.stderr, re.M), result.stderr
        assert "Traceback" not in result.stderr


@pytest.mark.parametrize("bits", ["", "bf16", "fp16"])
def test_what_is_packed_comes_apart_again(bits):
    random = np.random.default_rng(0)
    sizes = [[(3, 5), (3, 2), (600, 4)], [(1, 5), (1, 2), (7, 4)]]
    tasks = [[random.normal(size=s).astype("float32") for s in task] for task in sizes]
    whole = tf.concat([factors._packed([tf.constant(a) for a in task], bits) for task in tasks], 0)
    found = list(factors._unpacked(tf.reshape(whole, [-1]), [5, 2, 4], 2, bits))
    for task, parts in zip(tasks, found, strict=True):
        for wanted, part in zip(task, parts, strict=True):
            narrow = tf.cast(wanted, TYPES[bits]) if bits else wanted
            np.testing.assert_array_equal(part, tf.cast(narrow, tf.float32))


@pytest.mark.parametrize(
    ("rows", "inputs", "outputs", "replicas", "wanted"),
    [
        (64, 2048, 4096, 2, True),
        (64, 4096, 10, 2, False),
        (64, 2048, 4096, 32, False),
        (None, 2048, 4096, 2, True),
        (4096, 2048, 4096, 2, False),
    ],
)
def test_factors_are_sent_where_they_are_far_smaller(rows, inputs, outputs, replicas, wanted):
    assert factors.pays(rows, inputs, outputs, replicas) is wanted
