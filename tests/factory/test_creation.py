"""Variables of the tasks are compared in their order, whoever makes them first."""

import pytest

from tfdist.cluster import Cluster, Task
from tfdist.factory.creation import Comparison

ADDRESSES = {"worker": {0: "localhost:2000", 1: "localhost:2001"}}
OTHER = Task("worker", 1)


class Line:
    def __init__(self):
        self.told = []

    def listen(self, kind, callback):
        self.hear = callback

    def tell(self, kind, value):
        self.told.append((kind, value))


def make(index):
    said, line = [], Line()
    return Comparison(Cluster(ADDRESSES, Task("worker", index)), line, said.append), line, said


@pytest.mark.parametrize("order", ["ours", "theirs"])
def test_a_difference_is_told_by_number(order):
    comparison, line, said = make(0)
    acts = [lambda: comparison.make("bias (4,)"), lambda: line.hear(OTHER, [2, "bias (5,)"])]
    comparison.make("kernel (3, 4)")
    line.hear(OTHER, [1, "kernel (3, 4)"])
    assert said == []
    for act in acts if order == "ours" else reversed(acts):
        act()
    assert said == [
        "variable 2 is bias (4,) on worker 0 and bias (5,) on worker 1: start every task with the "
        "same model."
    ]


def test_one_that_was_not_heard_shifts_no_other():
    comparison, line, said = make(0)
    comparison.make("kernel (3, 4)")
    line.hear(OTHER, [2, "bias (4,)"])
    comparison.make("bias (4,)")
    assert said == []


def test_the_others_tell_the_chief():
    comparison, line, _ = make(1)
    comparison.make("kernel (3, 4)")
    assert line.told == [("variable", [1, "kernel (3, 4)"])]
