"""When a run is looked at, and what is seen then."""

import time
import types

import keras
import numpy as np
import pytest

from tests.progress.small import BATCH, EXAMPLES, fit
from tfdist import Checkpoint, Lines
from tfdist.errors import UsageError
from tfdist.progress.look import Meter
from tfdist.progress.observer import Observer
from tfdist.training import internals


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


def test_rates_are_differences_from_the_look_before(monkeypatch):
    engine = types.SimpleNamespace(model=None, input_seconds=1.0, settle=lambda: None)
    now, counted = iter([10.0, 14.0, 16.0]), iter([0.0, 80.0, None])
    monkeypatch.setattr(time, "perf_counter", lambda: next(now))
    monkeypatch.setattr(internals, "examples_counted", lambda model: next(counted))
    meter = Meter(engine)
    assert meter.rates(0) == {}
    meter.start(0)
    engine.input_seconds = 2.0
    rates = {"steps_per_second": 2.0, "examples_per_second": 20.0, "input_share": 0.25}
    assert meter.rates(8) == rates
    rates = {"steps_per_second": 1.0, "examples_per_second": None, "input_share": 0.0}
    assert meter.rates(10) == rates


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
