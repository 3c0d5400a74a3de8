"""The order of the examples."""

import tensorflow as tf

from tfdist.data import Source
from tfdist.run.batches import batches


def source(examples: int, known: bool = True, validation: int | None = None) -> Source:
    return Source(
        "numbers",
        tf.data.Dataset.range(examples),
        validation=None if validation is None else tf.data.Dataset.range(validation),
        train_examples=examples if known else None,
    )


def read(dataset) -> list[list[int]]:
    return [batch.tolist() for batch in dataset.as_numpy_iterator()]


def flat(found: list[list[int]]) -> list[int]:
    return [each for batch in found for each in batch]


def test_every_example_once_and_none_dropped():
    train, validation = batches(source(100), 32, seed=0)
    found = read(train)
    assert [len(batch) for batch in found] == [32, 32, 32, 4]
    assert sorted(flat(found)) == list(range(100))
    assert validation is None


def test_the_order_follows_from_the_seed():
    first, again, other = (read(batches(source(100), 32, seed)[0]) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert flat(first) != sorted(flat(first))


def test_each_epoch_has_an_order_of_its_own():
    train, _ = batches(source(100), 32, seed=0)
    assert read(train) != read(train)


def test_the_whole_training_set_is_shuffled():
    first_of_many = read(batches(source(9_000), 1_000, seed=0)[0])[0]
    assert max(first_of_many) > 8_000


def test_an_unknown_length_is_shuffled_too():
    first_of_many = read(batches(source(9_000, known=False), 1_000, seed=0)[0])[0]
    assert max(first_of_many) > 8_000


def test_goes_on_after_the_last_batch():
    train, _ = batches(source(10), 4, seed=0, goes_on=True)
    found = read(train.take(6))
    assert [len(batch) for batch in found] == [4, 4, 2, 4, 4, 2]
    assert sorted(flat(found[:3])) == sorted(flat(found[3:])) == list(range(10))


def test_validation_keeps_its_order():
    _, validation = batches(source(4, validation=10), 4, seed=0)
    assert read(validation) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
