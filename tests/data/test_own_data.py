import pytest

from tfdist.data import load
from tfdist.errors import UsageError

MODULE = """
import numpy as np
import tensorflow as tf
from tfdist.data import Source

def dataset(n):
    x = np.arange(n * 6, dtype=np.float32).reshape(n, 3, 2)
    return tf.data.Dataset.from_tensor_slices((x, np.arange(n) % 2))

def pair(): return dataset(5), dataset(3)
def no_validation(): return dataset(5), None
def dictionary(data_dir): return {"train": dataset(5), "num_classes": 2, "origin": data_dir}
def source(): return Source("mine", dataset(5), num_classes=2)
def endless(): return {"train": dataset(5).repeat()}
def structured(): return {"train": dataset(5).map(lambda x, y: ({"a": x, "b": y}, y))}
def arrays(): return np.zeros(3), np.zeros(3)
def three(): return dataset(5), dataset(3), 2
def misspelt(): return {"train": dataset(5), "valdation": dataset(3)}
def empty(): return {}
def nothing(): return None
"""


@pytest.fixture(autouse=True)
def module(tmp_path, monkeypatch):
    (tmp_path / "own_data_example.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("pair", (5, 3, (3, 2), None)),
        ("no_validation", (5, None, (3, 2), None)),
        ("dictionary", (5, None, (3, 2), 2)),
        ("source", (5, None, (3, 2), 2)),
        ("endless", (None, None, (3, 2), None)),
        ("structured", (5, None, {"a": (3, 2), "b": ()}, None)),
    ],
)
def test_what_a_function_may_return(function, expected):
    source = load(f"own_data_example:{function}")
    lengths = (source.train_examples, source.validation_examples)
    assert (*lengths, source.input_shape, source.num_classes) == expected


def test_data_dir_is_given_and_fields_are_kept():
    source = load("own_data_example:dictionary", "/some/folder")
    assert (source.name, source.origin) == ("own_data_example:dictionary", "/some/folder")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("arrays", "returned ndarray as its train data, but a tf.data.Dataset is expected"),
        ("three", "returned a tuple of 3: return"),
        ("misspelt", "unknown key 'valdation'.*did you mean 'validation'"),
        ("empty", r"returned a dict with the keys \[\]: return \(train, validation\)"),
        ("nothing", "returned a value of type NoneType"),
    ],
)
def test_what_a_function_may_not_return(function, message):
    with pytest.raises(UsageError, match=message):
        load(f"own_data_example:{function}")
