"""Every callback of Keras' that remembers something, and what it remembers."""

import inspect
import json

import keras
import numpy as np
import pytest

from tests.checkpoint.small import Count
from tfdist.checkpoint.memory import recall, remind

WEIGHTS = [np.arange(6, dtype="float32").reshape(2, 3), np.array([0.1, -0.0, np.inf])]
KERAS = {
    "EarlyStopping": (
        lambda: keras.callbacks.EarlyStopping(patience=3),
        {"best": 0.1, "best_epoch": 2, "best_weights": WEIGHTS, "stopped_epoch": 0, "wait": 1},
    ),
    "ReduceLROnPlateau": (
        lambda: keras.callbacks.ReduceLROnPlateau(),
        {"best": np.float32(0.1), "cooldown_counter": 2, "wait": 4},
    ),
    "ModelCheckpoint": (
        lambda: keras.callbacks.ModelCheckpoint("m.keras"),
        {"best": float("-inf"), "_batches_seen_since_last_saving": 3, "_last_batch_seen": 7},
    ),
    "BackupAndRestore": (
        lambda: keras.callbacks.BackupAndRestore("backup"),
        {"_current_epoch": 4, "_batches_seen_since_last_saving": 3, "_last_batch_seen": 7},
    ),
    "History": (keras.callbacks.History, {"epoch": [0, 1], "history": {"loss": [0.3, 0.1]}}),
    "SwapEMAWeights": (keras.callbacks.SwapEMAWeights, {"_ema_weights_in_model": True}),
    "TensorBoard": (
        lambda: keras.callbacks.TensorBoard("logs"),
        {"_global_train_batch": 11, "_global_test_batch": 5, "_previous_epoch_iterations": 10},
    ),
}


def carried(callbacks):
    states, arrays = recall(callbacks)
    return json.loads(json.dumps(states)), arrays


@pytest.mark.parametrize("name", KERAS)
def test_remembers(name):
    make, values = KERAS[name]
    before, after = make(), make()
    for attribute, value in values.items():
        setattr(before, attribute, value)
    remind([after], *carried([before]))
    for attribute, value in values.items():
        keras.tree.map_structure(np.testing.assert_array_equal, getattr(after, attribute), value)
        assert attribute in vars(make()) or attribute in ("best_epoch", "epoch"), "has moved"


def test_a_subclass_remembers_too():
    class Mine(keras.callbacks.EarlyStopping):
        pass

    before, after = Mine(), Mine()
    before.wait = 5
    remind([after], *carried([before]))
    assert after.wait == 5


def test_a_callback_of_the_users_own_gives_and_takes():
    before, after = Count(), Count()
    before.epochs, before.total = 4, np.array([1.5, 2.5])
    remind([after], *carried([before]))
    assert after.epochs == 4
    assert after.total.tolist() == [1.5, 2.5]


def test_they_are_told_apart_by_class_and_number():
    before = [keras.callbacks.EarlyStopping(), keras.callbacks.EarlyStopping()]
    before[0].wait, before[1].wait = 1, 2
    after = [Count(), keras.callbacks.EarlyStopping(), keras.callbacks.EarlyStopping()]
    remind(after, *carried(before))
    assert [after[1].wait, after[2].wait, after[0].epochs] == [1, 2, 0]


def test_that_of_orbax_remembers_without_its_library():
    kind = keras.callbacks.OrbaxCheckpoint
    before, after = kind.__new__(kind), kind.__new__(kind)
    values = {"best": 0.1, "_batches_seen_since_last_saving": 3, "_last_batch_seen": 7}
    vars(before).update(values, _total_batches_seen=11)
    remind([after], *carried([before]))
    assert vars(after) == vars(before)
    source = inspect.getsource(kind)
    assert all(f"self.{name} = " in source for name in vars(after) if name != "best"), "has moved"


def test_each_that_keras_has_is_known():
    elsewhere = {"CSVLogger", "OrbaxCheckpoint"}
    remember_nothing = {
        *("Callback", "CallbackList", "LambdaCallback", "LearningRateScheduler"),
        *("ProgbarLogger", "RemoteMonitor", "TerminateOnNaN"),
    }
    there = {name for name, each in vars(keras.callbacks).items() if inspect.isclass(each)}
    assert there == {*KERAS, *elsewhere, *remember_nothing}
