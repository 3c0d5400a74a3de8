"""Names for what differs, from gradients that are made up."""

import numpy as np
import pytest

from tfdist.verification.faults import elsewhere, in_every_batch
from tfdist.verification.report import Comparison, Row

ONE = {"a": np.array([1.0, -2.0]), "b": np.array([[3.0]]), "still": np.zeros(2)}
EQUAL = Comparison("", ())


def times(**factors):
    return {name: (value, value * factors.get(name, 1.0)) for name, value in ONE.items()}


def named(even, last=None, comparison=EQUAL, replicas=4):
    found = in_every_batch(even, replicas, "Net.train_step")
    (cause,) = found or elsewhere(comparison, last or even, replicas, "Net.train_step")
    return cause


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (4.0, "the gradient is 4.00 x that of one device, the number of replicas"),
        (0.25, "the gradient is 0.25 x that of one device, 1 / the number of replicas"),
        (3.0, "the gradient is 3.00 x that of one device, because of what Net.train_step"),
    ],
)
def test_a_common_factor(factor, said):
    cause = named(times(a=factor, b=factor))
    assert cause.what.startswith(said)
    assert cause.factor == pytest.approx(factor)


def test_a_factor_of_some_weights():
    assert named(times(b=4.0)).what.startswith("the gradient of b is 4.00 x that of one device")


def test_factors_that_differ_or_none():
    assert "the gradient is no multiple" in named(times(a=4.0, b=2.0)).what
    turned = times() | {"a": (ONE["a"], ONE["a"][::-1])}
    assert "the gradient of a is no multiple" in named(turned).what


def test_only_the_uneven_batch():
    assert "unequal shares of a batch" in named(times(), times(a=1.1, b=1.1)).what


def test_a_log():
    rows = (Row("log", "x", 3.0, 1e-6, 2.0, 8.0), Row("layer", "a", 0.0, 1e-5))
    cause = named(times(), comparison=Comparison("", rows))
    assert cause.what.startswith("the log 'x' is 4.00 x that of one device, the number of replicas")


def test_nothing_found():
    assert "the gradient of a single step agrees" in named(times()).what
