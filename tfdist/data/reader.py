"""How are examples read by their numbers, so that any order of them costs the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfdist.data.identity import of_numbers
from tfdist.data.permutation import permutation
from tfdist.data.pixels import block_of, finished
from tfdist.data.source import Source

_HOLD_OUT_SEED = 2**32  # Of no run: what is held out is held out from every run.


@dataclass(frozen=True)
class Reader:
    """Examples by their numbers, 0 to `examples` - 1.

    Attributes:
        examples: how many there are.
        read: in a graph, from a vector of int64 numbers to a batch, such as (x, y), of these
            examples as they are stored. Those that cannot be read are left out.
        finish: in a graph, from such a batch to the one that a model takes.
        may_lose: how many examples can be left out at the most.
        identity: gives what the stored examples depend on, as text, to name a copy of them.
    """

    examples: int
    read: Callable[[Any], Any]
    finish: Callable[[Any], Any] = finished
    may_lose: int = 0
    identity: Callable[[], str] = str

    def batch(self, numbers: Any) -> Any:
        """Return the batch of the examples with these numbers, in a graph."""
        return self.finish(self.read(numbers))

    def chosen(self, numbers: np.ndarray) -> Reader:
        """Return the reader of these examples alone, numbered in this order."""
        import tensorflow as tf

        with tf.device("CPU:0"):
            table = tf.constant(numbers, tf.int64)
        return replace(
            self,
            examples=len(numbers),
            read=lambda places: self.read(tf.gather(table, places)),
            identity=lambda: f"{self.identity()} {of_numbers(numbers)}",
        )

    def dataset(self) -> Any:
        """Return the tf.data dataset of single examples (x, y), in the order of their numbers."""
        import tensorflow as tf

        numbers = tf.data.Dataset.range(self.examples)
        block = block_of(numbers.batch(1).map(self.read).element_spec)
        batches = numbers.batch(block).map(
            self.batch, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
        )
        examples = batches.unbatch()
        if self.may_lose:
            return examples
        return examples.apply(tf.data.experimental.assert_cardinality(self.examples))


def hold_out(reader: Reader, fraction: float) -> tuple[Reader, Reader | None]:
    """Return the readers of the training part and of the validation part, None when it is empty."""
    held = int(reader.examples * fraction)
    if held == 0:
        return reader, None
    numbers = permutation(reader.examples, _HOLD_OUT_SEED)
    # In the order of the files, which is the fastest when the order does not matter.
    return reader.chosen(np.sort(numbers[held:])), reader.chosen(np.sort(numbers[:held]))


def source(name: str, train: Reader, validation: Reader | None, **facts: Any) -> Source:
    """Return the source whose two parts are read by these readers."""
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
