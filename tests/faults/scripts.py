"""What the tasks of a row run: a training that goes on until the fault ends it."""

_BEGIN = """
import json, os, sys, time
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
epochs, units, layers, examples = 10**6, 16, 1, 64
def before_variables(): pass
def in_graph(): pass
def at_epoch_end(epoch): pass
def callbacks(): return []
"""
# A row may give other values and functions before it.
TRAIN = """
import tfdist
strategy = tfdist.strategy(stall_seconds=5, devices="cpu")
import keras, numpy as np, tensorflow as tf

class AtEpochEnd(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, flush=True)
        at_epoch_end(epoch)

def each():
    for _ in range(examples):
        yield np.ones(8, "float32"), np.ones(1, "float32")

def look(x):
    in_graph()
    return x

kinds = tf.TensorSpec((8,)), tf.TensorSpec((1,))
data = tf.data.Dataset.from_generator(each, output_signature=kinds).batch(4)
data = data.map(lambda x, y: (tf.ensure_shape(tf.py_function(look, [x], x.dtype), (None, 8)), y))
before_variables()
hidden = [keras.layers.Dense(units) for _ in range(layers)]
with strategy.scope():
    model = keras.Sequential([keras.Input((8,)), *hidden, keras.layers.Dense(1)])
    model = tfdist.distribute(model)
    model.compile("adam", "mse")
model.fit(data, epochs=epochs, verbose=0, callbacks=[AtEpochEnd(), *callbacks()])
"""
# The last worker does what it finds in `accident` when all have met and TensorFlow connects them.
TRAIN_AND_CONNECT_BADLY = f"""
from tfdist.factory import multi_worker
resolver = multi_worker.resolver
def later(cluster, num_gpus):
    if rank: accident(int(cluster.address(cluster.task).split(":")[1]))
    return resolver(cluster, num_gpus)
multi_worker.resolver = later
{TRAIN}"""
# Saves to a small disk, which is full from the third epoch on.
TRAIN_AND_FILL_THE_DISK = f"""
def callbacks():
    return [tfdist.Checkpoint(os.environ["DISK"] + "/checkpoints")]

def at_epoch_end(epoch):
    if epoch == 2 and not rank:
        with open(os.environ["DISK"] + "/other", "wb", buffering=0) as file:
            try:
                while file.write(bytes(2**12)): pass
            except OSError: pass
{TRAIN}"""
# Only meets the others, without TensorFlow; the last function keeps the port of a task.
MEET = """
import socket, traceback
from tfdist.cluster import meet, resolve
from tfdist.errors import StartAgainError

cluster = resolve()
held = before(int(cluster.address(cluster.task).split(":")[1]))
try:
    meet(cluster, {}, wait_seconds=2)
except StartAgainError as error:
    sys.stderr.write(f"{error}\\n")
    sys.exit(75)
"""


def whole(script: str) -> str:
    """Return a script with what comes before it."""
    return _BEGIN + script
