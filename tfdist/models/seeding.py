"""Where do the initial weights come from?"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def seeded(seed: int | None) -> Iterator[None]:
    """Let `seed` alone rule what is drawn in the block; None leaves everything as it is.

    Keras draws the seeds of its initializers and of layers such as Dropout from Python's generator.
    That one and NumPy's go on afterwards as if the block had not been.
    """
    if seed is None:
        yield
        return
    state, numpy_state = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)  # NumPy takes 32 bits.
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)
