"""Workers in one process, on data that is right and on data that is wrong in every way."""

import itertools
from dataclasses import replace

import pytest

from tests.data.numbered import by_number, stream
from tests.data.pictures import write, write_classes
from tfdist.data import Reading, Source, load
from tfdist.data.audit import audit
from tfdist.data.audit.report import report
from tfdist.data.order import Order

SIZES = [1, 13]


@pytest.mark.parametrize("source", [by_number, stream])
@pytest.mark.parametrize("drop", [False, True])
def test_right_data_is_found_right(source, drop):
    for size, workers in itertools.product(SIZES, (1, 3)):
        order = Order(global_batch_size=10, drop_remainder=drop)
        found = audit(lambda size=size: source(size), order, workers, 2)
        dropped = size % 10 if drop else 0
        assert found.faults == []
        assert (found.examples, found.dropped, found.never) == (size, dropped, dropped)
        assert (found.twice, found.foreign) == (0, 0)
        assert sum(sum(each) for each in found.read) == size - dropped
        full, rest = divmod(size, 10)
        sizes = [[10, full]] * (full > 0) + [[rest, 1]] * (rest > 0 and not drop)
        assert found.batches == [sizes] * workers


def test_the_examples_of_each_replica_by_hand():
    found = audit(lambda: by_number(11), Order(global_batch_size=5), 2, 2)
    # Batches of 5, 5 and 1 over 4 replicas: 1 1 1 2, 1 1 1 2 and 0 0 0 1.
    assert found.read == [[2, 2], [2, 5]]
    assert report("numbers", found).splitlines() == [
        "numbers: 11 examples",
        "  batches     2 of 5, 1 of 1",
        "  worker 0    4 (2, 2)",
        "  worker 1    7 (2, 5)",
        "  seen twice  0",
        "  never seen  0",
        "verdict: each example is read exactly once",
    ]


def test_examples_that_are_equal_are_not_seen_twice():
    source = by_number(20)
    lumped = replace(source.train_reader, finish=lambda batch: tuple(part // 3 for part in batch))
    found = audit(lambda: replace(source, train_reader=lumped), Order(global_batch_size=7), 2)
    assert (found.faults, found.examples) == ([], 20)


def shuffled_by_each_task():
    source = stream(97)
    return replace(source, train=source.train.shuffle(97, reshuffle_each_iteration=False))


def test_workers_with_orders_of_their_own():
    found = audit(shuffled_by_each_task, Order(global_batch_size=10, shuffle=False), 2)
    assert found.twice == found.never > 5
    assert found.foreign == 0
    assert found.faults == [
        f"{found.twice} were read more than once",
        f"{found.never} were never read",
        "the workers read in different orders: shuffle with one seed, or not at all",
    ]
    text = report("numbers", found)
    assert f"  seen twice  {found.twice}\n  never seen  {found.never}\n" in text


def test_workers_with_different_data():
    sizes = iter([20, 20, 23])  # Of what is there, and of what the two workers have.
    found = audit(lambda: stream(next(sizes)), Order(global_batch_size=10, shuffle=False), 2)
    assert found.faults[0] == "worker 1 reads batches of other sizes than worker 0"
    # Of the third batch of 3, rows 1 and 2 are those of worker 1.
    assert (found.foreign, found.never) == (2, 0)
    assert "2 that were read are not in the dataset: it differs from worker to" in found.faults[1]


def test_data_that_changes_each_time_it_is_read():
    import tensorflow as tf

    drawn = itertools.count()
    noisy = tf.data.Dataset.from_generator(
        lambda: ((next(drawn), n) for n in range(30)),
        output_signature=(tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.int64)),
    )
    found = audit(lambda: Source("noisy", noisy, train_examples=30), Order(global_batch_size=10))
    assert (found.foreign, found.never) == (30, 30)
    assert "gives other examples each time it is read" in found.faults[0]
    assert "  not there   30\n" in report("noisy", found)


def test_an_empty_dataset():
    found = audit(lambda: by_number(0), Order(global_batch_size=10), 2)
    assert found.faults == ["the dataset is empty"]
    assert report("none", found).splitlines()[1] == "  batches     none"


def test_unreadable_examples_that_are_allowed(tmp_path):
    write_classes(tmp_path, a=5, b=5)
    write(tmp_path / "a" / "bad.png", b"no image")
    reading = Reading(image_size=(4, 5), validation_fraction=0, max_bad_examples=1)
    source = load(f"folder:{tmp_path}", reading=reading)
    found = audit(lambda: source, Order(global_batch_size=4), 2)
    assert (found.faults, found.examples, found.unreadable) == ([], 10, 1)
    assert "  unreadable  1\n" in report("images", found)
