"""A script that trains a model with everything a transport must carry, and saves what came out."""

SCRIPT = """
import hashlib, json, sys
from functools import partial
from pathlib import Path
import numpy as np
import tfdist

several = {several}
how = {{"transport": "mpi"}} if several else {{"name": "one_device"}}
strategy = tfdist.strategy(**how, seed=1)
import keras, tensorflow as tf
from tfdist.transport.mpi import exchange
# So small that this small model fills several buckets.
exchange.fill = partial(exchange.fill, bucket_bytes=2000, alone_bytes=1000)

def build():
    x = keras.Input((8,), name="x")
    words = keras.Input((3,), dtype="int32", name="words")
    met = keras.layers.Flatten()(keras.layers.Embedding(40, 4)(words))
    h = keras.layers.Dense(24)(keras.layers.Concatenate()([x, met]))
    h = keras.layers.BatchNormalization(synchronized=True)(h)
    h = keras.layers.Dense(16, activation="tanh", dtype="float64")(h)
    return keras.Model([x, words], keras.layers.Dense(3, dtype="float32")(h))

random = np.random.default_rng(0)
x = {{"x": random.normal(size=(57, 8)).astype("float32"), "words": random.integers(0, 40, (57, 3))}}
y = random.integers(0, 3, 57)
with strategy.scope():
    model = tfdist.distribute(build())
    model.compile(
        keras.optimizers.SGD(0.1, momentum=0.9),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0, validation_data=(x, y))
values = [v.numpy() for v in model.weights + model.optimizer.variables]
rank = tfdist.factory.current().cluster.rank or 0
np.savez(Path("{folder}") / f"{{'many' if several else 'one'}}{{rank}}.npz", *values)
print(json.dumps({{
    "strategy": type(strategy).__name__,
    "digest": hashlib.sha256(b"".join(v.tobytes() for v in values)).hexdigest(),
    "history": history.history,
    "predicted": model.predict(x, batch_size=16, verbose=0).tolist(),
}}))
"""
