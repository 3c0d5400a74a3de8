"""The time of training, by a clock that the test holds."""

import pytest

from tfdist.run import clock as clock_module
from tfdist.run.clock import Clock


@pytest.fixture
def at(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(clock_module.time, "perf_counter", lambda: now[0])

    def set_now(seconds):
        now[0] = seconds

    return set_now


def test_validation_and_the_first_epoch_are_left_out(at):
    clock = Clock()
    clock.on_train_begin()
    for begin, validation, end in ((0, 10, 12), (12, 14, 20), (20, 24, 30)):
        at(begin)
        clock.on_epoch_begin(0)
        at(validation)
        clock.on_test_begin()
        at(end)
        clock.on_epoch_end(0)
    clock.on_train_end()
    assert clock.epoch_seconds == [10, 2, 4]
    assert clock.seconds_per_epoch == 3
    assert clock.seconds == 30


def test_one_epoch_without_validation(at):
    clock = Clock()
    clock.on_train_begin()
    clock.on_epoch_begin(0)
    at(5)
    clock.on_epoch_end(0)
    clock.on_train_end()
    assert clock.seconds_per_epoch == 5
