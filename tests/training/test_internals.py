import time

import keras
import pytest
import tensorflow as tf

import tfdist
from tfdist.errors import UsageError
from tfdist.training import internals


def test_this_keras_has_all_that_is_relied_on():
    assert internals.missing() == []


def test_a_moved_function_is_named(monkeypatch):
    monkeypatch.delattr(internals.keras_loss, "apply_mask")
    assert internals.missing() == ["keras.src.losses.loss has no apply_mask"]
    with pytest.raises(UsageError, match=f"does not know Keras {keras.__version__}.*apply_mask"):
        internals.check()


def test_a_renamed_argument_is_named(monkeypatch):
    monkeypatch.setattr(internals.keras_loss, "apply_mask", lambda weights, mask, dtype: None)
    assert "keras.src.losses.loss.apply_mask takes no 'sample_weight'" in internals.missing()


def test_intercepting_twice_is_once():
    class Owner:
        def value(self):
            return 1

    def instead(active, original, owner):
        return original(owner) + active

    for _ in range(2):
        internals.intercept(Owner, "value", lambda: 10, instead)
    assert Owner().value() == 11


def test_outside_strategy_leaves_and_comes_back():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        with internals.outside_strategy():
            assert internals.is_default(tf.distribute.get_strategy())
        assert tf.distribute.get_strategy() is strategy


def test_distribute_takes_keras_models_only():
    with pytest.raises(UsageError, match=r"takes a Keras 3 model, but received builtins\.dict"):
        tfdist.distribute({})


def test_an_iterator_that_was_let_go_gives_nothing_more():
    dataset = tf.data.Dataset.range(3).repeat()
    iterator = iter(dataset)
    assert next(iterator) == 0
    internals.let_go(dataset, iterator)
    deadline = time.monotonic() + 20
    while next(iterator, None) is not None:
        assert time.monotonic() < deadline
