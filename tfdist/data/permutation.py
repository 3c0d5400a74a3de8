"""In which order? A permutation that follows from its seeds, on every machine and in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def permutation(n: int, *seeds: int) -> np.ndarray:
    """Return a permutation of 0 .. `n` - 1 as int64; all are equally likely.

    NumPy promises that this generator, unlike its newer ones, gives the same numbers in every
    version (NEP 19).
    """
    import numpy as np

    bits = np.random.MT19937(np.random.SeedSequence(seeds))
    numbers = np.arange(n)
    np.random.RandomState(bits).shuffle(numbers)
    return numbers
