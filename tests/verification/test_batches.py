"""The global batches: the same ones each time, the last one uneven."""

import numpy as np
import pytest
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.verification.batches import Batches, in_double_precision


def numbers(count, batch, **options):
    return tf.data.Dataset.range(count).map(lambda i: (i, 2 * i)).batch(batch, **options)


def first(dataset):
    return [x.numpy().tolist() for x, _ in dataset]


def test_the_last_batch_is_uneven():
    assert Batches(numbers(12, 4), 2, 2).sizes == (4, 3)
    assert Batches(numbers(6, 2), 3, 3).sizes == (2, 2, 2)
    assert Batches(numbers(9, 3), 3, 3).sizes == (3, 3, 2)
    assert Batches(numbers(4, 1), 4, 1).sizes == (1, 1, 1, 1)


def test_batches_of_fixed_size_keep_it():
    batches = Batches(numbers(8, 4, drop_remainder=True), 2, 2)
    assert batches.sizes == (4, 4)
    assert first(batches.even()) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_data_begins_again():
    assert first(Batches(numbers(5, 3), 4, 2).dataset) == [[0, 1, 2], [3, 4], [0, 1, 2], [3]]


def test_a_shuffle_without_a_seed_gives_the_same_each_time():
    batches = Batches(numbers(40, 4).unbatch().shuffle(40).batch(4), 5, 2)
    assert first(batches.dataset) == first(batches.dataset)
    assert int(batches.dataset.cardinality()) == 5


def test_even_last_and_reversed():
    batches = Batches(numbers(9, 5), 2, 2)
    assert first(batches.dataset) == [[0, 1, 2, 3, 4], [5, 6, 7]]
    assert first(batches.even()) == [[0, 1, 2, 3], [5, 6]]
    assert first(batches.last()) == [[5, 6, 7]]
    assert first(batches.reversed()) == [[4, 3, 2, 1, 0], [7, 6, 5]]


def test_digests_tell_batches_apart():
    some, same, other = (Batches(numbers(n, 4), 3, 2).digests for n in (12, 12, 10))
    assert some == same
    assert [a == b for a, b in zip(some, other, strict=True)] == [True, True, False]


def test_double_precision_leaves_whole_numbers_alone():
    data = tf.data.Dataset.from_tensors((np.float32([1]), np.int64([2])))
    x, y = next(iter(in_double_precision(data)))
    assert (x.dtype, y.dtype) == (tf.float64, tf.int64)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([1, 2], r"takes a tf.data.Dataset of global batches, but received list: arrays become"),
        (tf.data.Dataset.range(0).batch(2), "the dataset gave no batch: give one with examples"),
    ],
)
def test_other_data_is_refused(data, said):
    with pytest.raises(UsageError, match=said):
        Batches(data, 2, 2)
