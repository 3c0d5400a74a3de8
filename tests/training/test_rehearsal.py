import keras
import pytest
import tensorflow as tf

import tfdist
from tfdist.errors import UsageError


class TwoParts(keras.Model):
    """Takes its steps with an optimizer of its own."""

    def __init__(self, *layers):
        super().__init__()
        self.part = keras.Sequential(layers)

    def compile(self, optimizer):
        super().compile()
        self.own = optimizer

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(self.part(x) ** 2)
        weights = self.part.trainable_weights
        self.own.apply(tape.gradient(loss, weights), weights)
        return {"square": loss}


def fit(*layers):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = tfdist.distribute(TwoParts(*layers))
        model.compile(keras.optimizers.SGD(0.5))
    history = model.fit(tf.data.Dataset.from_tensors([[1.0], [2.0], [3.0]]), verbose=0)
    return model, history


def test_an_optimizer_of_the_models_own_updates_once_with_the_global_mean():
    dense = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    model, history = fit(keras.layers.Input((1,)), dense)
    # The loss is the mean of x^2 = 14/3, its gradient 28/3, and the step half of that.
    assert history.history["square"] == pytest.approx([14 / 3])
    assert float(model.part.weights[0].numpy()[0, 0]) == pytest.approx(1 - 14 / 3)
    assert int(model.own.iterations.numpy()) == 1


def test_a_layer_without_weights_is_named():
    expected = r"would build 'sequential.*' in its first step.*Input layer"
    with pytest.raises(UsageError, match=expected):
        fit(keras.layers.Dense(1))
