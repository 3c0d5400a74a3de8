"""Sources whose examples are their own numbers."""

import numpy as np

from tfdist.data import Reading, Source, parts
from tfdist.data.reader import Reader


def by_number(examples: int, validation: int | None = None, **facts) -> Source:
    """Examples (number as float, number) that are read by their numbers."""
    held_out = None if validation is None else reader(validation)
    return parts.source("numbers", reader(examples, **facts), held_out, Reading(cache="none"))


def kept(examples: int, validation: int | None = None) -> Source:
    """The same examples as if they were in memory, where several batches are read in one call."""
    return by_number(examples, validation, needs_no_copy=True)


def reader(examples: int, **facts) -> Reader:
    import tensorflow as tf

    return Reader(examples, lambda numbers: (tf.cast(numbers, tf.float32), numbers), **facts)


def stream(examples: int, known: bool = True) -> Source:
    """The same examples, one after the other."""
    import tensorflow as tf

    dataset = tf.data.Dataset.range(examples).map(lambda n: (tf.cast(n, tf.float32), n))
    return Source("numbers", dataset, train_examples=examples if known else None)


def read(dataset) -> list[list[int]]:
    """The numbers in each batch."""
    batches = list(dataset.as_numpy_iterator())
    assert all(np.array_equal(x, y) for x, y in batches)
    return [y.tolist() for _, y in batches]


def flat(batches: list[list[int]]) -> list[int]:
    return [number for batch in batches for number in batch]
