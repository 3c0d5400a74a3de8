"""Data of each worker's own: whether any example comes twice."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import tensorflow as tf

from tfdist.data.__main__ import main
from tfdist.data.audit import audit_declared
from tfdist.data.audit.declared import audit_declared_with
from tfdist.data.audit.report import report
from tfdist.data.per_worker import per_worker

LENGTHS = (7, 0, 4)


def divided():
    """Parts of 7, 0 and 4 examples in batches of 3."""

    def own(context):
        first = 100 * context.worker
        return tf.data.Dataset.range(first, first + LENGTHS[context.worker]).batch(3)

    return per_worker(own)


def overlapping():
    return per_worker(lambda context: tf.data.Dataset.range(context.worker + 5).batch(3))


def test_parts_of_unequal_length():
    found = audit_declared(divided(), 3)
    assert found.faults == []
    assert report("parts", found).splitlines() == [
        "parts: 11 examples",
        "  worker 0    7 in 2 of 3, 1 of 1",
        "  worker 1    0 in none",
        "  worker 2    4 in 1 of 3, 1 of 1",
        "  seen twice  0",
        "verdict: no example is read twice",
    ]


def test_parts_that_overlap(capsys):
    name = f"{__name__}:overlapping"
    assert main(["--audit", f"--dataset={name}", "--workers=3"]) == 1
    told = capsys.readouterr().out
    assert "seen twice  6" in told
    assert "6 were read more than once; the workers' parts overlap: divide the data by" in told
    assert main(["--audit", f"--dataset={__name__}:divided", "--workers=3"]) == 0


class Line:
    """A channel between threads."""

    def __init__(self, values, barrier, rank):
        self.values, self.barrier, self.rank = values, barrier, rank

    def gather(self, name, value):
        self.values[self.rank] = json.loads(json.dumps(value))
        self.barrier.wait(60)
        found = list(self.values)
        self.barrier.wait(60)
        return found


@pytest.mark.parametrize("data", [divided, overlapping])
def test_workers_that_read_their_own_parts_find_the_same_as_one_process(data):
    values, barrier = [None] * 3, threading.Barrier(3)

    def audited(rank):
        return audit_declared_with(Line(values, barrier, rank), data(), rank, 3)

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(audited, range(3)))
    assert found == [audit_declared(data(), 3)] * 3
