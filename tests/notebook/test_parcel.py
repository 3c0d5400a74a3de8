"""What goes to the tasks and comes back, without any."""

import threading

import pytest

from tfdist.cluster import Task
from tfdist.errors import UsageError
from tfdist.notebook import parcel
from tfdist.notebook.result import Result, result_of

TASK = Task("worker", 1)


class Picky(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


def failure(error):
    try:
        raise error
    except type(error) as caught:
        return caught


def test_a_function_of_a_cell_is_called_with_its_arguments(tmp_path):
    offset = 10
    parcel.send(tmp_path, lambda x, *, y: offset + x * y, (2,), {"y": 3})
    assert parcel.call(tmp_path) == 16


def test_what_cannot_be_sent_is_one_sentence(tmp_path):
    lock = threading.Lock()

    def locked():
        return lock

    with pytest.raises(UsageError, match=r"'locked' cannot be sent to other processes .*lock"):
        parcel.send(tmp_path, locked, (), {})


def test_an_exception_comes_back_as_itself_with_its_traceback(tmp_path):
    assert parcel.error(tmp_path, TASK) is None
    parcel.give_error(tmp_path, TASK, failure(KeyError("why")))
    found = parcel.error(tmp_path, TASK)
    assert isinstance(found, KeyError)
    assert found.args == ("why",)
    assert str(found.__cause__).startswith("in worker 1:\nTraceback")


def test_an_exception_that_cannot_be_made_again_keeps_its_words(tmp_path):
    parcel.give_error(tmp_path, TASK, failure(Picky("a", "b")))
    found = parcel.error(tmp_path, TASK)
    assert (type(found), str(found)) == (RuntimeError, "Picky: a b")


def test_results(tmp_path):
    parcel.give(tmp_path, TASK, Result(3, {"loss": [1.0]}))
    assert parcel.receive(tmp_path, TASK) == Result(3, {"loss": [1.0]})


def test_a_history_or_model_in_a_value_is_left_out_and_its_numbers_kept():
    import keras
    import numpy as np

    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(np.ones((2, 1)), np.ones((2, 1)), epochs=2, verbose=0)
    for value in ([history, 7], {"of": model, "n": 7}):
        found = result_of(value)
        inner, seven = found.value if isinstance(value, list) else found.value.values()
        assert seven == 7
        assert inner.history == found.history == history.history
        assert inner.epoch == [0, 1]
        np.testing.assert_array_equal(found.weights[0], model.get_weights()[0])
    assert result_of("plain") == Result("plain")
