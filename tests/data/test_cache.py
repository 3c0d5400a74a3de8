import os

import numpy as np
import psutil
import pytest

from tests.data.numbered import by_number, flat, read, stream
from tests.data.pictures import write, write_classes
from tfdist.data import Reading, load
from tfdist.data.batches import batches
from tfdist.data.cache import cached, cached_stream
from tfdist.data.order import Order
from tfdist.data.reader import Reader
from tfdist.errors import UsageError


def copying(folder, where, **how):
    """A source of images under `folder`/images, and its batches in the order of the files."""
    reading = Reading(image_size=(4, 5), validation_fraction=0, cache=where, **how)
    source = load(f"folder:{folder}/images", reading=reading)
    return source, batches(source, Order(global_batch_size=4, shuffle=False))


def labels(dataset):
    return [y.tolist() for _, y in dataset.as_numpy_iterator()]


@pytest.mark.parametrize("where", ["memory", "auto", "FOLDER"])
def test_examples_are_read_once_and_stay_the_same(tmp_path, where):
    write_classes(tmp_path / "images", a=5, b=4)
    where = where.replace("FOLDER", str(tmp_path / "cache"))
    _, dataset = copying(tmp_path, where)
    first = list(dataset.as_numpy_iterator())
    for file in (tmp_path / "images").glob("*/*"):
        file.write_bytes(b"")  # Who still reads it would fail.
    for _ in range(2):
        again = list(dataset.as_numpy_iterator())
        for (x, y), (x_before, y_before) in zip(again, first, strict=True):
            np.testing.assert_array_equal(x, x_before)
            np.testing.assert_array_equal(y, y_before)


def test_without_a_cache_files_are_read_again(tmp_path):
    write_classes(tmp_path / "images", a=2)
    source, dataset = copying(tmp_path, "none")
    assert labels(dataset) == [[0, 0]]
    (tmp_path / "images" / "a" / "000.png").write_bytes(b"")
    with pytest.raises(UsageError, match=r"000\.png"), source.bad.told():
        labels(dataset)


def test_a_cache_does_not_change_the_order():
    from dataclasses import replace

    source = by_number(50)
    kept = replace(source, train_reader=cached(source.train_reader, "memory"))
    order = Order(global_batch_size=7, seed=2)
    plain, copied = batches(source, order), batches(kept, order)
    for _ in range(3):
        assert read(copied) == read(plain)
    assert len(copied) == len(plain) == 8


def test_an_example_is_read_once_whatever_batches_it_is_in():
    import tensorflow as tf

    asked: list[int] = []

    def stored(numbers):
        noted = tf.numpy_function(lambda n: (asked.extend(n.tolist()), n)[1], [numbers], tf.int64)
        noted = tf.ensure_shape(noted, [None])
        return tf.cast(noted, tf.float32), noted

    from dataclasses import replace

    source = by_number(20)
    source = replace(source, train_reader=cached(Reader(20, stored), "memory"))
    for size in (6, 7, 3):  # batches that have a part in common
        dataset = batches(source, Order(global_batch_size=size, seed=size))
        assert sorted(flat(read(dataset))) == list(range(20))
    assert sorted(asked) == list(range(20))


def test_a_later_run_finds_the_copies(tmp_path):
    write_classes(tmp_path / "images", a=3)
    cache = str(tmp_path / "cache")
    labels(copying(tmp_path, cache)[1])
    for file in (tmp_path / "images" / "a").iterdir():
        status = file.stat()
        file.write_bytes(bytes(status.st_size))  # Who still reads it would fail.
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert labels(copying(tmp_path, cache)[1]) == [[0, 0, 0]]


def test_data_that_has_changed_is_read_again(tmp_path):
    write_classes(tmp_path / "images", a=3)
    cache = str(tmp_path / "cache")
    labels(copying(tmp_path, cache)[1])
    (tmp_path / "images" / "a" / "000.png").write_bytes(b"no image")
    source, dataset = copying(tmp_path, cache)
    with pytest.raises(UsageError, match=r"000\.png"), source.bad.told():
        labels(dataset)


def test_a_batch_with_a_bad_example_is_read_again(tmp_path):
    write_classes(tmp_path / "images", a=6)
    write(tmp_path / "images" / "a" / "0025.png", b"no image")
    source, dataset = copying(tmp_path, "memory", max_bad_examples=1)
    for _ in range(3):
        assert [len(batch) for batch in labels(dataset)] == [3, 3]
    assert len(source.bad.reasons) == 1


def test_auto_keeps_only_what_is_small(monkeypatch):
    reader = by_number(100).train_reader
    assert cached(reader, "auto") is not reader
    monkeypatch.setattr("tfdist.data.cache._SMALL_BYTES", 100 * 12 - 1)
    assert cached(reader, "auto") is reader
    assert cached(reader, "memory") is not reader


def test_what_costs_nothing_to_read_is_not_copied(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(5.0), y=np.arange(5))
    source = load(f"npz:{tmp_path}/a.npz", reading=Reading(cache=str(tmp_path / "cache")))
    assert flat(labels(batches(source, Order(global_batch_size=2, shuffle=False))))
    assert not (tmp_path / "cache").exists()


def test_no_room_in_memory(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("_", (), {"available": 2**30}))
    with pytest.raises(UsageError, match=r"--cache=memory takes 11\.2 GiB, and 1\.0 GiB are free"):
        cached(by_number(10**9).train_reader, "memory")


def test_no_room_on_disk(tmp_path, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(UsageError, match=r"could not be taken \(No space left on device\): give"):
        cached(by_number(10).train_reader, str(tmp_path))


def test_examples_without_a_fixed_shape():
    import tensorflow as tf

    reader = Reader(3, lambda n: (tf.strings.as_string(n), n))
    assert cached(reader, "auto") is reader
    with pytest.raises(UsageError, match="--cache is memory, but the examples differ in shape"):
        cached(reader, "memory")


def test_a_stream_is_kept_in_memory_or_not_at_all():
    import tensorflow as tf

    reads = []
    source = stream(5)
    watched = source.train.map(lambda x, y: (tf.numpy_function(reads.append, [y], []), (x, y))[1])
    object.__setattr__(source, "train", watched)
    kept = cached_stream(source, "memory")
    dataset = batches(kept, Order(global_batch_size=2))
    for _ in range(3):
        assert sorted(flat(read(dataset))) == list(range(5))
    assert len(reads) == 5
    assert cached_stream(source, "auto") is source
    with pytest.raises(UsageError, match="'numbers' gives its examples one after the other"):
        cached_stream(source, "/some/folder")
