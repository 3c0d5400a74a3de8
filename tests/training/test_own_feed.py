"""Data of each worker's own: what it needs to be, and one worker alone."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tfdist.training.declared import endless, nothing
from tfdist.training.feed import feed as make_feed

ALONE = tf.distribute.get_strategy()


def numbers(*sizes):
    def batches():
        for size in sizes:
            yield np.arange(size, dtype="float32")[:, None]

    spec = tf.TensorSpec([None, 1], tf.float32)
    return tf.data.Dataset.from_generator(batches, output_signature=spec)


def test_a_part_that_is_missing_counts_nothing():
    parts = list(endless(numbers(3, 0, 2)).take(6).as_numpy_iterator())
    assert [int(part.count) for part in parts] == [3, 0, 2, 0, 0, 0]
    assert [int(part.goes_on) for part in parts] == [1, 1, 1, 0, 0, 0]
    assert [part.batch[:, 0].tolist() for part in parts] == [[0, 1, 2], [0], [0, 1], [0], [0], [0]]
    (part,) = endless(numbers()).take(1).as_numpy_iterator()
    assert (int(part.count), int(part.goes_on), part.batch.tolist()) == (0, 0, [[0.0]])


def test_nothing_has_the_structure_of_a_batch():
    ragged = tf.RaggedTensorSpec([None, None], tf.int64)
    sparse = tf.SparseTensorSpec([None, 4], tf.float32)
    made = nothing({"r": ragged, "s": sparse, "t": tf.TensorSpec([None, 2], tf.string)})
    assert made["r"].nrows() == 1
    assert made["s"].dense_shape.numpy().tolist() == [1, 4]
    assert made["t"].numpy().tolist() == [[b"", b""]]


def test_one_worker_reads_each_epoch_of_its_own():
    seen = []

    def own(context):
        seen.append((context.worker, context.workers, context.epoch))
        x = np.full([3, 1], context.epoch, "float32")
        return tf.data.Dataset.from_tensor_slices((x, x)).batch(2)

    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    tfdist.distribute(model)
    history = model.fit(tfdist.per_worker(own), epochs=4, initial_epoch=1, verbose=0).history
    assert seen == [(0, 1, 1), (0, 1, 2), (0, 1, 3)]
    assert len(history["loss"]) == 3
    assert isinstance(model.evaluate(tfdist.per_worker(own), verbose=0), float)
    with pytest.raises(tfdist.UsageError, match=r"predict\(\) was given own\(\) of"):
        model.predict(tfdist.per_worker(own))


def test_skipped_epochs_are_not_asked_for():
    asked = []

    def own(context):
        asked.append(context.epoch)
        return numbers(*range(1, 5))

    feed = make_feed(ALONE, tfdist.per_worker(own))
    feed.pass_over()
    feed.pass_over()
    feed.skip(3)
    feed.at(2)
    assert [len(batch) for batch in feed.epoch()] == [4]
    assert asked == [0, 2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": lambda c: numbers(1).repeat()}, r"gives worker 0 batches without end: give steps_"),
        ({"x": lambda c: numbers(1), "y": 1}, r"y or sample_weight was given beside tfdist.per_"),
        ({"x": lambda c: [1]}, r"returned list for worker 0, but a tf.data.Dataset"),
    ],
)
def test_what_is_refused(arguments, said):
    x = tfdist.per_worker(arguments.pop("x"))
    with pytest.raises(tfdist.UsageError, match=said):
        make_feed(ALONE, x, **arguments)


def test_parameter_servers_deal_out_whole_batches():
    class Servers(tf.distribute.ParameterServerStrategy):
        def __init__(self):
            pass

    with pytest.raises(tfdist.UsageError, match="no worker has data of its own: use multi_worker"):
        make_feed(Servers(), tfdist.per_worker(lambda c: numbers(1)))
