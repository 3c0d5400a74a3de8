"""When a run is looked at, and what is seen then."""

import time

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.progress.small import BATCH, EXAMPLES, fit
from tfdist import Checkpoint, Lines
from tfdist.errors import UsageError
from tfdist.progress.observer import Observer


class Seen(Observer):
    def __init__(self, **when):
        super().__init__(**when)
        self.looks, self.ends = [], []

    def see(self, look):
        self.looks.append(look)

    def see_epoch(self, look):
        self.ends.append(look)


def test_looks_come_at_these_steps_of_the_run_and_after_each_epoch():
    seen = Seen(every_steps=4)
    _, history = fit(seen)
    assert [look.step for look in seen.looks] == [4, 8, 12, 16, 20]
    assert [(look.epoch, look.step_in_epoch) for look in seen.looks][1:3] == [(1, 8), (2, 2)]
    assert [(look.step, look.epoch, look.epochs) for look in seen.ends] == [(10, 1, 2), (20, 2, 2)]
    for epoch, look in enumerate(seen.ends):
        assert dict(look.logs) == {name: values[epoch] for name, values in history.items()}


def test_a_look_shows_the_metrics_of_the_steps_so_far():
    seen = Seen(every_steps=10)
    fit(seen, epochs=1, validation=False)
    assert dict(seen.looks[0].logs) == dict(seen.ends[0].logs)


def test_examples_are_counted_and_not_assumed():
    seen = Seen(every_steps=10)
    fit(seen, validation=False)
    rates = [look.examples_per_second / look.steps_per_second for look in seen.looks]
    # The first look begins to measure behind the first call, which is one step.
    assert rates == pytest.approx([(EXAMPLES - BATCH) / 9, EXAMPLES / 10], rel=1e-3)


def test_a_slow_dataset_is_seen_as_waiting_for_input():
    def slow(i):
        return tf.py_function(lambda: time.sleep(0.06) or tf.zeros((4, 3)), [], tf.float32)

    def shaped(x):
        return tf.ensure_shape(x, (4, 3)), tf.zeros((4, 1))

    slow_data = tf.data.Dataset.range(12).map(slow).map(shaped)
    quick_data = tf.data.Dataset.from_tensors((np.zeros((4, 3), "f"), np.zeros((4, 1), "f")))
    shares = []
    for data in (slow_data, quick_data.repeat(12)):
        seen = Seen()
        fit(seen, data=data, epochs=2, validation=False)
        shares.append(seen.ends[1].input_share)
    assert shares[0] > max(0.5, shares[1])


def test_training_that_goes_on_in_mid_epoch_counts_its_steps(tmp_path):
    fit(Checkpoint(tmp_path, every_steps=13), epochs=1, validation=False)

    class Stop(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(Checkpoint(tmp_path / "b", every_steps=7), Stop(), validation=False)
    seen = Seen(every_steps=4)
    fit(Checkpoint(tmp_path / "b", every_steps=7), seen, validation=False)
    assert [(look.step, look.step_in_epoch) for look in seen.looks] == [
        *[(8, 8), (12, 2), (16, 6), (20, 10)]
    ]


def test_a_model_that_tfdist_does_not_train_is_refused():
    plain = keras.Sequential([keras.layers.Dense(1)])
    plain.compile("sgd", "mse")
    with pytest.raises(UsageError, match=r"Lines was given to the fit\(\) of a model that tfdist"):
        plain.fit(np.ones((1, 1)), np.ones(1), verbose=0, callbacks=[Lines(1)])


@pytest.mark.parametrize("value", [0, -3])
def test_wrong_numbers(value):
    with pytest.raises(UsageError, match=f"every_steps is {value}, but must be above 0"):
        Lines(value)
