"""In which order? A permutation that follows from its seeds, on every machine and in every run."""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

import numpy as np

_lock = Lock()


def permutation(n: int, *seeds: int) -> np.ndarray:
    """Return a permutation of 0 .. `n` - 1; it is kept for those who ask again, and read-only.

    All are equally likely. NumPy promises that this generator, unlike its newer ones, gives the
    same numbers in every version (NEP 19). Takes 4 bytes a number below 2**32.
    """
    with _lock:  # Threads that read batches of one pass need the same one at the same time.
        return _permutation(n, seeds)


@lru_cache(maxsize=2)  # Of the pass that ends and of the one that begins.
def _permutation(n: int, seeds: tuple[int, ...]) -> np.ndarray:
    bits = np.random.MT19937(np.random.SeedSequence(seeds))
    numbers = np.arange(n, dtype=np.uint32 if n <= 2**32 else np.uint64)
    np.random.RandomState(bits).shuffle(numbers)
    numbers.flags.writeable = False
    return numbers
