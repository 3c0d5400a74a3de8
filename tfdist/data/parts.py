"""Which examples are for training, and which for validation?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.data.cache import cached
from tfdist.data.permutation import permutation
from tfdist.data.reader import Reader
from tfdist.data.reading import Reading
from tfdist.data.source import Source

_HOLD_OUT_SEED = 2**32  # Of no run: what is held out is held out from every run.


def hold_out(reader: Reader, fraction: float) -> tuple[Reader, Reader | None]:
    """Return the readers of the training part and of the validation part, None when it is empty."""
    held = int(reader.examples * fraction)
    if held == 0:
        return reader, None
    numbers = permutation(reader.examples, _HOLD_OUT_SEED)
    # In the order of the files, which is the fastest when the order does not matter.
    return reader.chosen(np.sort(numbers[held:])), reader.chosen(np.sort(numbers[:held]))


def source(
    name: str, train: Reader, validation: Reader | None, reading: Reading, **facts: Any
) -> Source:
    """Return the source whose parts are read by these readers, through a cache as `reading` says.

    Raises:
        UsageError: there is no room for the cache.
    """
    train = cached(train, reading.cache)
    validation = cached(validation, reading.cache) if validation else None
    return Source(
        name=name,
        train=train.dataset(),
        validation=validation.dataset() if validation else None,
        train_examples=train.examples,
        validation_examples=validation.examples if validation else None,
        train_reader=train,
        validation_reader=validation,
        **facts,
    )
