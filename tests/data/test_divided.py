"""Whoever reads: the same global batches, and each example once."""

import itertools
import json

import numpy as np
import pytest
import tensorflow as tf

from tests.data.numbered import by_number, flat, kept, read, reader, stream
from tfdist.data import Reading, load
from tfdist.data.augment import Augment
from tfdist.data.batches import batches, divided, validation_batches
from tfdist.data.dealt import Dealt
from tfdist.data.divided import Divided
from tfdist.data.order import Order

SIZES, WORKERS, BATCHES = (0, 1, 2, 13, 29), (1, 2, 3, 4, 5), (1, 4, 16)
SHARDS = range(1, 8)


def in_files(folder, examples, shards):
    """So many examples (number, number) in so many files, some of them perhaps empty."""
    described = {"dtype": "int64", "shape": []}
    (folder / "features.json").write_text(
        json.dumps({"x": "n", "y": "n", "features": {"n": described}})
    )
    for shard in range(shards):
        with tf.io.TFRecordWriter(str(folder / f"{shard}.tfrecord")) as file:
            for number in range(shard, examples, shards):
                value = tf.train.Feature(int64_list=tf.train.Int64List(value=[number]))
                features = tf.train.Features(feature={"n": value})
                file.write(tf.train.Example(features=features).SerializeToString())
    reading = Reading(validation_fraction=0, cache="none")
    return load(f"tfrecord:{folder}/*.tfrecord", reading=reading)


def of_task(dataset) -> list[tuple[list[int], int]]:
    """What a task counts of each global batch, and the size of that."""
    found = []
    for batch, count, total in dataset.as_numpy_iterator():
        assert len(batch[1]) >= 1
        assert count in (0, len(batch[1]))
        found.append((batch[1][:count].tolist(), int(total)))
    return found


def check(source, examples, order, workers):
    """Compare what the tasks read with what one reads."""
    expected = read(batches(source, order))
    dropped = examples % order.global_batch_size if order.drop_remainder else 0
    assert len(set(flat(expected))) == len(flat(expected)) == examples - dropped
    if workers == 1:
        assert read(divided(source, order).dataset(0, 1)) == expected
        return
    tasks = [of_task(divided(source, order).dataset(n, workers)) for n in range(workers)]
    assert {len(task) for task in tasks} == {len(expected)}
    for step, batch in enumerate(expected):
        rows = [task[step] for task in tasks]
        assert flat([mine for mine, _ in rows]) == batch
        assert {total for _, total in rows} == {len(batch)}
        sizes = [len(mine) for mine, _ in rows]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("source", "examples"), [*((by_number, size) for size in SIZES), (kept, 29)]
)
def test_the_rows_of_all_tasks_are_the_global_batches(source, examples, monkeypatch):
    monkeypatch.setattr("tfdist.data.pixels._MAX_BLOCK", 8)
    # Each size meets a fifth of what it can be combined with; together they meet all of it.
    combined = list(itertools.product(WORKERS, BATCHES, (False, True), (False, True)))
    for workers, size, shuffle, drop in combined[SIZES.index(examples) :: 5]:
        order = Order(global_batch_size=size, shuffle=shuffle, drop_remainder=drop, seed=workers)
        check(source(examples), examples, order, workers)


@pytest.mark.parametrize("shards", SHARDS)
def test_any_number_of_files_is_read_by_any_number_of_workers(tmp_path, shards):
    examples = (0, 1, 2, 5, 7, 11, 13)[shards - 1]
    source = in_files(tmp_path, examples, shards)
    check(source, examples, Order(global_batch_size=4, seed=shards), 1 + shards % 5)


@pytest.mark.parametrize("make", [by_number, kept])
def test_a_task_reads_its_own_examples_only(make):
    numbers = []

    def note(found):
        numbers.extend(found.tolist())
        return found

    source = make(20)
    plain = source.train_reader.read

    def seen(asked):
        return plain(tf.ensure_shape(tf.numpy_function(note, [asked], tf.int64), asked.shape))

    from dataclasses import replace

    source = replace(source, train_reader=replace(source.train_reader, read=seen))
    order = Order(global_batch_size=8, shuffle=False)
    of_task(divided(source, order).dataset(1, 4))
    assert sorted(numbers) == [2, 3, 10, 11, 17]


@pytest.mark.parametrize("source", [by_number, kept])
def test_later_passes_and_a_resumed_run_go_on_in_order(source):
    order = Order(global_batch_size=4, goes_on=True, start_epoch=1, start_step=2)
    expected = read(batches(by_number(10), order).take(5))
    tasks = [of_task(divided(source(10), order).dataset(n, 2).take(5)) for n in range(2)]
    assert [a[0] + b[0] for a, b in zip(*tasks, strict=True)] == expected


def test_images_are_changed_as_in_the_global_batch():
    x = np.random.default_rng(0).random((7, 6, 6, 1), np.float32)
    source = by_number(7)
    from dataclasses import replace

    def images(numbers):
        return tf.gather(tf.constant(x), numbers), numbers

    source = replace(source, train_reader=reader(7), input_shape=(6, 6, 1))
    source = replace(source, train_reader=replace(source.train_reader, read=images))
    order, augment = Order(global_batch_size=5), Augment(flip=True, crop=0.5, seed=4)
    whole = np.concatenate([b[0] for b in batches(source, order, augment).as_numpy_iterator()])
    parts = [list(divided(source, order, augment).dataset(n, 3)) for n in range(3)]
    mine = [part.batch[0][: part.count] for step in zip(*parts, strict=True) for part in step]
    np.testing.assert_array_equal(np.concatenate(mine), whole)


def test_what_cannot_be_dealt_out_is_read_by_all():
    order = Order(global_batch_size=4)
    assert isinstance(divided(by_number(9), order), Divided)
    assert isinstance(divided(stream(9), order), tf.data.Dataset)
    assert isinstance(divided(by_number(9, may_lose=1), order), tf.data.Dataset)
    held_out = validation_batches(by_number(9, validation=5), 4, make=divided)
    assert isinstance(held_out.dataset(0, 2).element_spec, Dealt)
    with pytest.raises(ValueError, match="no task 2 among 2"):
        held_out.dataset(2, 2)
