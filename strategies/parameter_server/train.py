"""Train handwritten digits: every task runs this; all but the chief serve from the strategy on."""

import keras

import tfdist
from tfdist.data import load

strategy = tfdist.strategy("parameter_server")
digits = load("digits")
with strategy.scope():
    layers = [keras.layers.Flatten(), keras.layers.Dense(64, "relu"), keras.layers.Dense(10)]
    model = tfdist.distribute(keras.Sequential(layers))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
train = digits.train.shuffle(2_000, seed=0).batch(64)
model.fit(train, validation_data=digits.validation.batch(360), epochs=10)
