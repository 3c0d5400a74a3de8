"""The flags of all commands that read data: pure."""

import re

import pytest

from tfdist.data.flags import DataFlags
from tfdist.errors import UsageError

MISTAKES = [
    ({"dataset": "my digits"}, "--dataset is 'my digits': give digits, a name of TensorFlow"),
    ({"dataset": "npz:"}, "--dataset is 'npz:': give what it is to read too, as npz:/data"),
    ({"image_size": "big"}, "--image_size is 'big': give pixels, as 224 or 224x160"),
    ({"resize": "big"}, "--resize is 'big': give pixels, as 224 or 224x160"),
    ({"channels": 2}, "--channels is 2: give 3 for colour or 1 for grey"),
    ({"crop": 0.0}, "--crop is 0.0: give the least part of each side that is kept"),
]


@pytest.mark.parametrize(("wrong", "said"), MISTAKES)
def test_mistakes_are_one_sentence(wrong, said):
    with pytest.raises(UsageError, match=f"^{re.escape(said)}"):
        DataFlags(**wrong)


@pytest.mark.parametrize("name", ["folder:/my pictures", "npz:a b.npz", "tfrecord:x*", "my:data"])
def test_datasets_that_may_exist_pass(name):
    assert DataFlags(dataset=name).dataset == name


def test_what_they_make():
    told = DataFlags(image_size="32x24", channels=1, shuffle=False, drop_remainder=True)
    assert told.reading().image_size == (32, 24)
    order = told.in_order(8, seed=3, start_step=2)
    assert (order.shuffle, order.drop_remainder, order.seed, order.start_step) == (
        False,
        True,
        3,
        2,
    )
    assert told.augment(0) is None
    changed = DataFlags(resize="96", flip=True).augment(5)
    assert (changed.size, changed.flip, changed.seed) == ((96, 96), True, 5)
