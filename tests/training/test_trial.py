import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist.training import trial

_X = np.random.default_rng(0).normal(size=(50, 6)).astype("float32")
_Y = np.arange(50) % 3


class _NotForXla(keras.layers.Layer):
    def call(self, x):
        return tf.ensure_shape(tf.numpy_function(lambda a: a, [x], tf.float32), x.shape)


def _trained(auto_jit, *makers, strategy=None):
    strategy = strategy or tf.distribute.get_strategy()
    keras.utils.set_random_seed(1)
    with strategy.scope():
        body = [keras.layers.Input((6,)), keras.layers.Dense(8, "tanh"), *(m() for m in makers)]
        model = keras.Sequential([*body, keras.layers.BatchNormalization(), keras.layers.Dense(3)])
        model = tfdist.distribute(model, auto_jit=auto_jit)
        model.compile(
            keras.optimizers.Adam(0.01),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    history = model.fit(_X, _Y, batch_size=16, epochs=2, shuffle=False, verbose=0)
    return history.history, [v.numpy() for v in model.weights + model.optimizer.variables]


def _times(monkeypatch, plain, compiled):
    """Let the trial find these seconds, whatever the machine does."""
    monkeypatch.setattr(trial.Tried, "_timed", lambda self, *ways: [plain, compiled])


def _same(one, other):
    for name, values in one[0].items():
        np.testing.assert_allclose(other[0][name], values, rtol=1e-5)
    for value, expected in zip(other[1], one[1], strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("replicas", [1, 2])
def test_the_trial_takes_no_step_and_the_faster_way_wins(monkeypatch, capsys, replicas):
    devices = [d.name for d in tf.config.list_logical_devices("CPU")][:replicas]
    strategy = tf.distribute.MirroredStrategy(devices) if replicas > 1 else None
    expected = _trained(False, strategy=strategy)
    assert capsys.readouterr().err == ""
    for compiled_seconds, said in ((0.009, "jit on: "), (0.0099, "jit off: ")):
        _times(monkeypatch, 0.010, compiled_seconds)
        _same(expected, _trained(True, strategy=strategy))
        error = capsys.readouterr().err
        assert error.startswith(f"tfdist: {said}")
        assert f"{compiled_seconds * 1e3:.3g} ms by XLA and 10 ms without" in error


def test_times_are_measured_on_the_step_itself(capsys):
    _trained(True)
    assert " ms by XLA and " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: keras.layers.Dropout(0.5), "the gradient differs by"),
        (_NotForXla, "XLA refuses the step: Detected unsupported operations"),
    ],
)
def test_what_xla_computes_otherwise_or_not_at_all_stays_without(monkeypatch, capsys, make, said):
    _times(monkeypatch, 0.010, 0.001)
    _same(_trained(False, make), _trained(True, make))
    assert f"tfdist: jit off: {said}" in capsys.readouterr().err


def test_a_sum_over_replicas_in_mid_step_is_not_compiled(monkeypatch, capsys):
    _times(monkeypatch, 0.010, 0.001)
    devices = [d.name for d in tf.config.list_logical_devices("CPU")][:2]
    strategy = tf.distribute.MirroredStrategy(devices)
    _trained(True, lambda: keras.layers.BatchNormalization(synchronized=True), strategy=strategy)
    assert "jit off: the step needs a sum over replicas" in capsys.readouterr().err
