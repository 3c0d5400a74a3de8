"""A training whose weights tell how often they saw each example."""

import time

import keras
import numpy as np
import tensorflow as tf

EXAMPLES = 203  # in batches of 16 the last one has 11
_EXAMPLE_SECONDS = 0.0006  # long enough that something can happen in an epoch


def data():
    """Examples that carry their own number behind what is learned from."""
    x = np.random.RandomState(0).randn(EXAMPLES, 8).astype("float32")
    y = (x.sum(1) > 0).astype("int64")
    train = tf.data.Dataset.from_tensor_slices((np.c_[x, np.arange(EXAMPLES)], y))
    train = train.apply(tf.data.experimental.assert_cardinality(EXAMPLES))
    return {"train": train.map(_slow), "num_classes": 2, "input_shape": (9,)}


def _slow(x, y):
    with tf.control_dependencies([tf.py_function(_wait, [], [])]):
        return tf.cast(tf.identity(x), tf.float32), y


def _wait():
    time.sleep(_EXAMPLE_SECONDS)


class Tally(keras.layers.Layer):
    """Counts how often the weights saw each example, as part of what is saved with them."""

    def build(self, shape):
        self.seen = self.add_weight(
            shape=(EXAMPLES,), initializer="zeros", trainable=False, name="seen", aggregation="sum"
        )

    def call(self, inputs, training=False):
        if training:
            numbers = keras.ops.cast(inputs[:, -1], "int32")
            self.seen.assign(self.seen + keras.ops.sum(keras.ops.one_hot(numbers, EXAMPLES), 0))
        return inputs[:, :-1]


def model(dropout=0.3):
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Input((9,)),
            Tally(),
            layers.Dense(16, activation="relu"),
            layers.Dropout(dropout),
            layers.Dense(2),
        ]
    )


def steady():
    """The same whatever the number of replicas: each would draw random numbers of its own."""
    return model(dropout=0)
