"""Memory that messages are received in, used again as soon as TensorFlow has let go of it."""

from __future__ import annotations

import sys

import numpy as np

_ALIGNED_BYTES = 64  # TensorFlow takes an array that is aligned so as a tensor, without a copy


class Buffers:
    """Hands out memory that nobody looks at any more.

    The sums of a step are views of it. A variable that was assigned such a sum goes on living in
    the buffer, which therefore must not be written again before that variable is assigned anew.
    """

    def __init__(self) -> None:
        self._memory: dict[int, list[np.ndarray]] = {}

    def take(self, size_bytes: int) -> np.ndarray:
        """Return aligned bytes, zero when new, that no tensor refers to."""
        known = self._memory.setdefault(size_bytes, [])
        for index in range(len(known)):
            # Held by the list and by the call itself: every tensor's view would add a reference.
            if sys.getrefcount(known[index]) == _HELD_BY_THE_LIST:
                return _aligned(known[index], size_bytes)
        known.append(np.zeros(size_bytes + _ALIGNED_BYTES, np.uint8))
        return _aligned(known[-1], size_bytes)


def _references() -> int:
    alone = [np.zeros(1, np.uint8)]
    return sys.getrefcount(alone[0])


_HELD_BY_THE_LIST = _references()


def _aligned(memory: np.ndarray, size_bytes: int) -> np.ndarray:
    start = -memory.ctypes.data % _ALIGNED_BYTES
    return memory[start : start + size_bytes]
