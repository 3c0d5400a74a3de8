"""A small model under a strategy of two replicas, and what it is trained on."""

import keras
import numpy as np
import tensorflow as tf

import tfdist

EXAMPLES, BATCH = 37, 4  # the tenth step of an epoch has one example


def fit(*callbacks, epochs=2, validation=True, data=None, steps=None):
    """Train; return the model and its History."""
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        model = tfdist.distribute(
            keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
        )
        model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    x = np.random.default_rng(0).normal(size=(EXAMPLES, 3)).astype("float32")
    data = data or tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(BATCH)
    history = model.fit(
        data,
        epochs=epochs,
        verbose=0,
        steps_per_epoch=steps,
        validation_data=(x, x.sum(1, keepdims=True)) if validation else None,
        callbacks=list(callbacks),
    )
    return model, history.history
