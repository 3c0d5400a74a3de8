import pytest

from tfdist.checkpoint.cadence import Cadence
from tfdist.errors import UsageError


def test_each_epoch_when_nothing_is_given():
    cadence = Cadence()
    assert [cadence.after_epoch(epoch) for epoch in range(2)] == [True, True]
    assert not cadence.after_step(1000)
    assert cadence.steps_left(5) is None
    assert not cadence.is_time


def test_each_so_many_epochs():
    cadence = Cadence(epochs=2)
    assert [cadence.after_epoch(epoch) for epoch in range(4)] == [False, True, False, True]


def test_steps_are_counted_from_the_beginning_of_the_run():
    cadence = Cadence(steps=5)
    cadence.saved(7)
    assert cadence.steps_left(7) == 3
    assert next(step for step in range(7, 21) if cadence.after_step(step)) == 10
    assert not cadence.after_epoch(0)
    cadence.saved(10)
    assert not cadence.after_step(14)
    assert cadence.after_step(16)  # a callback that looks at batches may have calls end elsewhere


def test_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    cadence = Cadence(minutes=2)
    now[0] += 119
    assert not cadence.is_time
    now[0] += 1
    assert cadence.is_time
    cadence.saved(3)
    assert not cadence.is_time


@pytest.mark.parametrize("name", ["steps", "minutes", "epochs"])
def test_numbers_are_above_zero(name):
    with pytest.raises(UsageError, match=f"every_{name} is 0, but must be above 0"):
        Cadence(**{name: 0})
