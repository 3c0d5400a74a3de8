"""Carries the messages of one place in the program: starts all-reduces, waits for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdist.transport.mpi.buffers import Buffers
from tfdist.transport.mpi.line import Line


@dataclass(frozen=True)
class _UnderWay:
    requests: list
    sent: list[np.ndarray]  # MPI reads them: TensorFlow must not free them meanwhile
    sums: list[np.ndarray]


class Carrier:
    """Sums arrays over all tasks, and brings rows together.

    Args:
        line: The line of this place in the program alone, so that no other can come between.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._buffers = Buffers()
        self._under_way: dict[int, _UnderWay] = {}

    def start(self, number: int, arrays: list[np.ndarray]) -> None:
        """Set off a bucket: an array for each of its messages."""
        for before in self._under_way.values():
            self._line.advance(before.requests)
        sums = [self._like(array) for array in arrays]
        requests = list(map(self._line.start_sum, arrays, sums))
        self._under_way[number] = _UnderWay(requests, arrays, sums)

    def finish(self, number: int) -> list[np.ndarray]:
        """Wait for a bucket; return its sums in the order of its messages."""
        ending = self._under_way.pop(number)
        self._line.wait(ending.requests)
        return ending.sums

    def exchange(self, rows: np.ndarray) -> np.ndarray:
        """Send a row to each task; return the rows that all tasks have for this one."""
        rows = np.ascontiguousarray(rows)
        found = self._like(rows)
        self._line.wait([self._line.start_exchange(rows, found)])
        return found

    def gather(self, array: np.ndarray) -> np.ndarray:
        """Return the rows of all tasks, in the order of the tasks."""
        array = np.ascontiguousarray(array)
        rows = self._line.gather_numbers(np.array(len(array), np.int64))
        shape = (int(rows.sum()), *array.shape[1:])
        width = int(np.prod(shape[1:]))
        memory = self._buffers.take(shape[0] * width * array.itemsize)
        everything = memory.view(array.dtype)
        self._line.wait([self._line.start_gather(array, rows * width, everything)])
        return everything.reshape(shape)

    def _like(self, array: np.ndarray) -> np.ndarray:
        return self._buffers.take(array.nbytes).view(array.dtype).reshape(array.shape)
