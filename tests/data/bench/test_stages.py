import numpy as np
import pytest

from tests.data.numbered import by_number, flat, read, stream
from tests.data.pictures import write_classes
from tfdist.data import Reading, load
from tfdist.data.augment import Augment
from tfdist.data.bench.stages import CACHE, PLAIN, stages
from tfdist.data.order import Order

ORDER = Order(global_batch_size=4)
FIRST = ["read and decode", "to numbers"]


def images(folder, cache):
    write_classes(folder, a=5, b=5)
    reading = Reading(image_size=(4, 5), validation_fraction=0, cache=cache)
    return load(f"folder:{folder}", reading=reading)


@pytest.mark.parametrize(
    ("cache", "augment", "expected"),
    [
        ("none", None, [*FIRST, "shuffle", PLAIN]),
        ("memory", None, [*FIRST, CACHE, "shuffle", PLAIN]),
        ("none", Augment(flip=True), [*FIRST, "shuffle", "change images", PLAIN]),
    ],
)
def test_each_stage_gives_all_examples(tmp_path, cache, augment, expected):
    found = dict(stages(images(tmp_path, cache), ORDER, augment))
    assert list(found) == expected
    for name, dataset in found.items():
        taken = list(dataset.take(6).as_numpy_iterator())  # Two passes, or more where none ends.
        x, y = (np.concatenate(part) for part in zip(*taken, strict=True))
        assert x.dtype == (np.uint8 if name == FIRST[0] else np.float32)
        if name != PLAIN:
            assert len(y) == 20
            assert sorted(y[:10]) == sorted(y[10:]) == [0] * 5 + [1] * 5


def test_plain_batches_hold_the_examples_too(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(10.0), y=np.arange(10))
    source = load(f"npz:{tmp_path}/a.npz", reading=Reading(validation_fraction=0))
    for each in (source, stream(10)):
        plain = dict(stages(each, ORDER, None))[PLAIN]
        assert sorted(flat(read(plain.take(5)))) == sorted([*range(10)] * 2)


def test_a_stream_and_a_reader_without_a_plain_form():
    assert list(dict(stages(stream(10), ORDER, None))) == ["read", "shuffle", PLAIN]
    assert list(dict(stages(by_number(10), ORDER, None))) == [*FIRST, "shuffle"]
