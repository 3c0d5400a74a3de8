import pytest

from tfdist.data import Reading, load
from tfdist.data.augment import Augment
from tfdist.data.batches import batches, divided, validation_batches
from tfdist.data.order import Order
from tfdist.data.per_worker import PerWorker
from tfdist.errors import UsageError

MODULE = """
import numpy as np
import tensorflow as tf
from tfdist import per_worker
from tfdist.data import Source

def dataset(n):
    x = np.arange(n * 6, dtype=np.float32).reshape(n, 3, 2)
    return tf.data.Dataset.from_tensor_slices((x, np.arange(n) % 2))

def pair(): return dataset(5), dataset(3)
def no_validation(): return dataset(5), None
def dictionary(data_dir): return {"train": dataset(5), "num_classes": 2, "origin": data_dir}
def source(): return Source("mine", dataset(5), num_classes=2)
def endless(): return {"train": dataset(5).repeat()}
def parts(): return per_worker(lambda context: dataset(5 + context.worker).batch(2))
def parts_and_whole(): return {"train": parts(), "validation": dataset(3), "num_classes": 2}
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
        ("parts", (None, None, (3, 2), None)),
        ("parts_and_whole", (None, 3, (3, 2), 2)),
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


def test_data_of_each_workers_own_stays_as_it_is():
    source = load("own_data_example:parts_and_whole")
    order = Order(global_batch_size=4)
    assert divided(source, order) is source.train
    assert isinstance(source.train, PerWorker)
    assert [len(x) for x, _ in validation_batches(source, 2)] == [2, 1]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda s: batches(s, Order(global_batch_size=4)), "cannot be read here as one dataset"),
        (lambda s: divided(s, Order(global_batch_size=4), Augment(flip=True)), "leave out --flip"),
        (lambda s: divided(s, Order(global_batch_size=4, drop_remainder=True)), "as they are: lea"),
        (lambda s: load(s.name, reading=Reading(cache="memory")), "--cache cannot keep: leave it"),
    ],
)
def test_what_cannot_be_done_with_data_of_each_workers_own(made, message):
    with pytest.raises(UsageError, match=f"batches of its own .*{message}"):
        made(load("own_data_example:parts"))
