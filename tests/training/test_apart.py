"""Workers that train apart, against one device."""

import json

import numpy as np

from tests.processes import run_alone, run_tasks

_TRAIN = """
import json, sys
import tfdist
strategy = tfdist.strategy({how}seed=1)
import keras, numpy as np
random = np.random.default_rng(0)
x, y = random.normal(size=(37, 6)).astype("float32"), random.integers(0, 3, 37)

def train(period, momentum):
    keras.utils.set_random_seed(1)
    with strategy.scope():
        dense = keras.layers.Dense
        model = keras.Sequential([keras.layers.Input((6,)), dense(8, "tanh"), dense(3)])
        tfdist.distribute(model, sync_period=period)
        model.compile(
            keras.optimizers.SGD(0.1, momentum=momentum),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    history = model.fit(x, y, batch_size=12, epochs=3, shuffle=False, verbose=0).history
    values = [v.numpy() for v in model.weights + model.optimizer.variables]
    return {{"history": history, "values": [v.ravel().tolist() for v in values]}}

found = [train({every}, 0.0), train({several}, 0.9)]
sys.stdout.write(json.dumps(found) + "\\n")
"""


def test_a_period_of_one_is_synchronous_and_longer_ones_end_in_one_model():
    alone = run_alone(_TRAIN.format(how="'one_device', ", every=None, several=None))
    assert alone.returncode == 0, alone.stderr[-2000:]
    expected, other = json.loads(alone.stdout)
    results = run_tasks(_TRAIN.format(how="", every=1, several=3))
    assert [r.returncode for r in results] == [0, 0], results[0].stderr[-3000:]
    one, two = (json.loads(r.stdout) for r in results)
    assert one == two
    for found, value in zip(one[0]["values"], expected["values"], strict=True):
        np.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-6)
    for name, values in expected["history"].items():
        np.testing.assert_allclose(one[0]["history"][name], values, rtol=1e-5, err_msg=name)
    # Apart for three steps they learn something else, but not something quite other.
    assert not np.allclose(one[1]["values"][0], other["values"][0], rtol=1e-5)
    np.testing.assert_allclose(one[1]["history"]["loss"], other["history"]["loss"], rtol=0.2)
    assert one[1]["values"][-1] != [0.0] * len(one[1]["values"][-1])
