"""A line between all tasks, for one place in the program; nobody waits on it for ever."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from tfdist.errors import StartAgainError, UsageError
from tfdist.factory.mpi import World

# As long as a task may be busy with something else, such as saving.
_PATIENCE_SECONDS = 1800.0
# MPI works only while it is asked; who sleeps between two questions slows a message down.
_BUSY_SECONDS = 2.0
_PAUSE_SECONDS = 0.00005
_YIELD_EVERY = 64  # questions: lets another process have the core where there are too few


class Line:
    """All-reduces and gathers between the tasks.

    Args:
        world: What connects the tasks.
    """

    def __init__(self, world: World) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._world = world
        self._comm = world.comm
        self.tasks: int = world.comm.Get_size()

    def apart(self) -> Line:
        """Return a line of its own; all tasks ask for it in the same order."""
        line = Line(self._world)
        line._comm, request = self._comm.Idup()
        self.wait([request])
        return line

    def start_sum(self, mine: np.ndarray, total: np.ndarray) -> Any:
        """Start summing over all tasks into `total`."""
        return self._comm.Iallreduce(mine, total)

    def start_exchange(self, rows: np.ndarray, found: np.ndarray) -> Any:
        """Start to send a row to each task."""
        return self._comm.Ialltoall(rows, found)

    def start_gather(self, mine: np.ndarray, numbers: np.ndarray, everything: np.ndarray) -> Any:
        """Start to bring arrays together; `numbers` is how many elements each task has."""
        return self._comm.Iallgatherv(mine, (everything, numbers))

    def gather_numbers(self, mine: np.ndarray) -> np.ndarray:
        """Return the numbers of all tasks, a row for each."""
        everything = np.empty((self.tasks, *mine.shape), mine.dtype)
        self.wait([self._comm.Iallgather(mine, everything)])
        return everything

    def advance(self, requests: list) -> None:
        """Let MPI go on with what is under way: it works only when it is called."""
        self._mpi.Request.Testall(requests)

    def wait(self, requests: list) -> None:
        """Wait until what was started has ended.

        Raises:
            StartAgainError: a task is lost, or did not come in half an hour.
        """
        begin = time.monotonic()
        asked = 0
        while not self._mpi.Request.Testall(requests):
            asked += 1
            if asked % _YIELD_EVERY == 0:
                self._pause(time.monotonic() - begin)

    def _pause(self, waited_seconds: float) -> None:
        if waited_seconds > _BUSY_SECONDS:
            time.sleep(_PAUSE_SECONDS)
        else:
            os.sched_yield()
        if self._world.channel.lost:
            raise StartAgainError(self._world.channel.lost)
        if waited_seconds > _PATIENCE_SECONDS:
            raise StartAgainError(
                f"another task did not take part in a sum within {_PATIENCE_SECONDS:.0f} s: look "
                "at what the other tasks do, and start the job again."
            )


def check_same(line: Line, number: int) -> None:
    """Refuse tasks that compute different steps, which would wait for each other or add nonsense.

    Raises:
        UsageError: the numbers of the tasks differ.
    """
    numbers = line.gather_numbers(np.array([number], np.int64))
    if len(np.unique(numbers)) > 1:
        raise UsageError(
            "the tasks compute different steps, which cannot be summed: start all of them with the "
            "same script, model and data."
        )
