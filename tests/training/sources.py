"""Trains on every kind of data in one task of two: each with the numbers of one device."""

import json
import sys
import tempfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.data import Reading, load
from tfdist.data.audit import audit_with
from tfdist.data.batches import batches, divided
from tfdist.data.divided import Divided
from tfdist.data.order import Order

EXAMPLES, SIZE, EPOCHS = 37, 8, 2
X = np.random.RandomState(0).normal(size=(EXAMPLES, 3)).astype("float32")
Y = (X.sum(1, keepdims=True) + 0.5).astype("float32")


class Largest(keras.metrics.Metric):
    """The largest error: the parts of a batch do not add up to it."""

    def __init__(self, name="largest"):
        super().__init__(name=name)
        self.value = self.add_variable((), "zeros", name="value")

    def update_state(self, y_true, y_pred, sample_weight=None):
        found = keras.ops.max(keras.ops.abs(y_true - y_pred))
        self.value.assign(keras.ops.maximum(self.value, found))

    def result(self):
        return self.value


def net(width, metrics):
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [
            keras.layers.Input((width,)),
            keras.layers.BatchNormalization(synchronized=True),
            keras.layers.Dense(1),
        ]
    )
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), "mse", metrics=metrics())
    return model


def train(make, data, width=3, metrics=lambda: ["mae"], **options):
    model = make(net, width, metrics)
    history = model.fit(data, epochs=EPOCHS, verbose=0, shuffle=False, **options).history
    return model.get_weights(), history


def together(make, *args):
    with STRATEGY.scope():
        return tfdist.distribute(make(*args))


def alone(make, *args):
    return make(*args)


def compare(data, one_device, validation=(None, None), **options):
    """Train on both, which must not differ."""
    validations = [None if each is None else each() for each in validation]
    weights, history = train(together, data(), validation_data=validations[0], **options)
    expected, told = train(alone, one_device(), validation_data=validations[1], **options)
    for mine, other in zip(weights, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=2e-5)
    for key, values in told.items():
        np.testing.assert_allclose(history[key], values, rtol=1e-4, err_msg=key)
    return {"loss": history["loss"][-1]}


class Items(keras.utils.PyDataset):
    """Batches by their number."""

    def __len__(self):
        return -(-EXAMPLES // SIZE)

    def __getitem__(self, index):
        rows = slice(index * SIZE, (index + 1) * SIZE)
        return X[rows], Y[rows]


def pairs_of_items():
    """What two workers make of them in a step."""
    return in_rows(rows(16, 16, 5))


def in_memory():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(SIZE)


def generator():
    while True:
        yield from Items()


def write_records(folder, files):
    features = {name: {"shape": [n]} for name, n in (("x", 3), ("y", 1))}
    described = {"x": "x", "y": "y", "features": features}
    folder.mkdir()
    (folder / "features.json").write_text(json.dumps(described))
    for number in range(files):
        with tf.io.TFRecordWriter(str(folder / f"{number}.tfrecord")) as file:
            for x, y in zip(X[number::files], Y[number::files], strict=True):
                values = {"x": x, "y": y}
                lists = {
                    k: tf.train.Feature(float_list=tf.train.FloatList(value=v))
                    for k, v in values.items()
                }
                example = tf.train.Example(features=tf.train.Features(feature=lists))
                file.write(example.SerializeToString())
    return f"tfrecord:{folder}/*.tfrecord"


def dealt(source, size=SIZE, **options):
    """A dataset whose rows are dealt out: audited, and compared."""
    by = Order(global_batch_size=size, seed=3)
    found = audit_with(CHANNEL, source, by, RANK, 2)
    assert not found.faults, found.faults
    parts = divided(source, by)
    assert isinstance(parts, Divided)
    told = compare(lambda: parts, lambda: batches(source, by), **options)
    return told | {"read": found.read}


def flat_digits(source):
    """Digits for a model that takes one number of so many columns."""
    from dataclasses import replace

    reader = source.train_reader

    def finish(batch):
        x, y = reader.finish(batch)
        return tf.reshape(x, [-1, 64]), tf.cast(y[:, None], tf.float32) / 10

    return replace(source, train_reader=replace(reader, finish=finish), num_classes=None)


SPEC = (tf.TensorSpec([None, 3], tf.float32), tf.TensorSpec([None, 1], tf.float32))


def in_rows(parts):
    """Batches of these rows, of which nobody knows how many there are."""
    return tf.data.Dataset.from_generator(
        lambda: ((X[rows], Y[rows]) for rows in parts), output_signature=SPEC
    )


def unequal(parts, known=True):
    """Of each worker its own batches, by lists of their rows; and what one device is fed."""

    def own(context):
        mine = parts[context.worker] if context.workers == 2 else None
        dataset = in_rows(mine)
        if known:
            dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(mine)))
        return dataset

    steps = range(max(map(len, parts)))
    whole = [np.concatenate([part[i] for part in parts if i < len(part)]) for i in steps]
    return lambda: tfdist.per_worker(own), lambda: in_rows(whole)


def rows(*sizes, first=0):
    """So many rows each, one after the other."""
    ends = first + np.cumsum(sizes)
    return [np.arange(end - size, end) for size, end in zip(sizes, ends, strict=True)]


UNEQUAL = [rows(5, 5, 3), rows(7, 1, first=13)]
NONE_FIRST = [[], rows(8, 8, 21)]
NONE_LAST = NONE_FIRST[::-1]


def cases(folder):
    """Name and what is to be called."""
    yield "TFDS", lambda: dealt(flat_digits(load("digits")), size=61, width=64)
    reading = Reading(validation_fraction=0)
    for files in (1, 3):
        name = write_records(folder / str(files), files)
        yield f"TFRecord {files}", lambda name=name: dealt(load(name, reading=reading))
    yield "generator", lambda: compare(generator, in_memory, steps_per_epoch=5)
    yield "PyDataset", lambda: compare(Items, in_memory)
    yield "from_generator", lambda: compare(lambda: in_rows(rows(*[8] * 4, 5)), in_memory)
    yield "NumPy", lambda: compare(lambda: X, lambda: X, y=Y, batch_size=SIZE)
    for parts, known in ((UNEQUAL, True), (NONE_FIRST, True), (UNEQUAL, False), (NONE_LAST, False)):
        name = f"own {'known' if known else 'unknown'} {[len(part) for part in parts]}"
        yield name, lambda parts=parts, known=known: compare(*unequal(parts, known))
    yield "own items", lambda: compare(lambda: tfdist.per_worker(Items()), pairs_of_items)
    yield "own metric", lambda: compare(*unequal(UNEQUAL), metrics=lambda: [Largest()])
    yield (
        "own validation",
        lambda: compare(in_memory, in_memory, validation=unequal(UNEQUAL, False)),
    )


def play(only=""):
    """Play the cases whose name begins so, and tell of each."""
    global STRATEGY, CHANNEL, RANK
    STRATEGY = tfdist.strategy("multi_worker")
    from tfdist.factory import current

    CHANNEL, RANK = current().channel, current().cluster.rank
    with tempfile.TemporaryDirectory() as folder:
        for name, case in cases(Path(folder)):
            if name.startswith(only):
                sys.stdout.write(json.dumps({"case": name} | case()) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    play(*sys.argv[1:])
