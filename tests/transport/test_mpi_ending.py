"""How a job ends in which something goes wrong: soon, and with the reason."""

import pytest

from tests.transport.mpirun import mpirun

_SOON_SECONDS = 60

_SUMS = """
import os, signal
import tfdist
strategy = tfdist.strategy(transport="mpi")
import tensorflow as tf
from tfdist.transport import sum_replicas
rank = tfdist.factory.current().cluster.rank

@tf.function(autograph=False)
def total(value):
    return sum_replicas(strategy, [value])[0]

value = tf.zeros([4])
for step in range(10):
    if step == 5:
        {accident}
    total(value)
"""


@pytest.mark.parametrize(
    ("accident", "told"),
    [
        ("if rank == 1: os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
        ("if rank == 1: raise RuntimeError('out of luck')", "RuntimeError: out of luck"),
        ("value = tf.zeros([5 + rank])", "the tasks compute different steps"),
    ],
)
def test_no_task_waits_for_one_that_has_ended(tmp_path, accident, told):
    result = mpirun(_SUMS.format(accident=accident), tmp_path, timeout_seconds=_SOON_SECONDS)
    assert result.returncode != 0
    assert told in result.stderr


def test_a_lost_task_ends_the_wait(tmp_path):
    script = """
from types import SimpleNamespace
import numpy as np
from mpi4py import MPI
from tfdist.errors import StartAgainError
from tfdist.transport.mpi import line
line._BUSY_SECONDS = 0.01
channel = SimpleNamespace(lost="worker 1 is lost")
never = MPI.COMM_WORLD.Irecv(np.zeros(1), 0)
try:
    line.Line(SimpleNamespace(comm=MPI.COMM_WORLD, channel=channel)).wait([never])
except StartAgainError as error:
    print(error)
"""
    result = mpirun(script, tmp_path, ranks=1, timeout_seconds=_SOON_SECONDS)
    assert "worker 1 is lost" in result.stdout, result.stderr
