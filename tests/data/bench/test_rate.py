import pytest

from tests.data.numbered import stream
from tfdist.data.batches import batches
from tfdist.data.bench import rate
from tfdist.data.order import Order


class Clock:
    """A time that passes only when something is read, at so many batches a second."""

    def __init__(self, **speeds):
        self.now = 0.0
        self.calls = {name: [] for name in speeds}
        self._speeds = speeds

    def perf_counter(self):
        return self.now

    def reader(self, name):
        def read(count):
            self.now += count / self._speeds[name]
            self.calls[name].append(count)
            return 10 * count

        return read


@pytest.fixture
def clock(monkeypatch):
    made = Clock(slow=4.0, fast=40_000.0)
    monkeypatch.setattr(rate, "time", made)
    monkeypatch.setattr(rate, "reader", made.reader)
    return made


def test_the_rate_is_that_of_the_examples(clock):
    found = rate.rates({"slow": "slow", "fast": "fast"}, None, seconds=2)
    assert found == pytest.approx({"slow": 40, "fast": 400_000})


def test_calls_grow_until_they_take_a_while(clock):
    rate.rates({"slow": "slow", "fast": "fast"}, None, seconds=2)
    assert max(clock.calls["slow"]) == 1
    assert 0.01 <= max(clock.calls["fast"]) / 40_000 <= 0.02


def test_the_first_pass_is_apart_and_ends_in_time(clock):
    rate.rates({"slow": "slow"}, pass_examples=40, seconds=3)
    a_pass, rounds = 4, 3 * (1 + 4)
    assert len(clock.calls["slow"]) == a_pass + rounds
    clock.calls["slow"].clear()
    rate.rates({"slow": "slow"}, pass_examples=10**9, seconds=3)
    assert len(clock.calls["slow"]) == 24 + rounds


def test_batches_are_read_one_after_the_other():
    dataset = batches(stream(10), Order(global_batch_size=4, goes_on=True))
    read = rate.reader(dataset)
    assert [read(count) for count in (1, 2, 3, 1)] == [4, 4 + 2, 4 + 4 + 2, 4]
