import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import tfdist
from tfdist.training.additive import adds_up


class Largest(keras.Metric):
    def __init__(self):
        super().__init__(name="largest")
        self.value = self.add_variable((), "zeros", name="value")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.value.assign(ops.maximum(self.value, ops.max(y_pred)))

    def result(self):
        return self.value


class Count(Largest):
    def update_state(self, y_true, y_pred, sample_weight=None):
        self.value.assign_add(ops.sum(y_pred))
        self.value.assign(1.0 + self.value)


class Decaying(Largest):
    def update_state(self, y_true, y_pred, sample_weight=None):
        self.value.assign(0.9 * self.value + ops.sum(y_pred))


class Depending(Largest):
    def update_state(self, y_true, y_pred, sample_weight=None):
        self.value.assign(self.value + ops.sum(y_pred) * ops.tanh(self.value))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("accuracy", True), (Largest, False), (Count, True), (Decaying, False), (Depending, False)],
)
def test_what_adds_up(metric, expected):
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3)])
    metrics = [metric if isinstance(metric, str) else metric()]
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(), metrics=metrics)
    spec = (tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int64))
    model._symbolic_build(data_batch=spec)
    assert adds_up(model, spec) is expected


def test_a_maximum_is_that_of_the_whole_batch():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    x = np.arange(9, dtype="float32")[:, None]
    with strategy.scope():
        layers = [keras.layers.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")]
        model = tfdist.distribute(keras.Sequential(layers))
        model.compile("sgd", "mse", metrics=[Largest()])
    assert model.evaluate(x, x, batch_size=4, verbose=0)[1] == 8.0
