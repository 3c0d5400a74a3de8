"""How are examples read by their numbers, so that any order of them costs the same?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tfdist.data.identity import of_numbers
from tfdist.data.pixels import block_of, finished


@dataclass(frozen=True)
class Reader:
    """Examples by their numbers, 0 to `examples` - 1.

    Attributes:
        examples: how many there are.
        read: in a graph, from a vector of int64 numbers to a batch, such as (x, y), of these
            examples as they are stored. Those that cannot be read are left out.
        finish: in a graph, from such a batch to the one that a model takes.
        may_lose: how many examples can be left out at the most.
        needs_no_copy: whether reading an example again costs no more than reading a copy of it.
        in_graph: whether `read` needs nothing of this process, so that another can run it.
        plain: gives the same examples as tf.data reads them without numbers, to compare with: a
            dataset of items, and the function that makes an example as it is stored of an item.
        original: the reader of what this one copies.
        identity: gives what the stored examples depend on, as text, to name a copy of them.
    """

    examples: int
    read: Callable[[Any], Any]
    finish: Callable[[Any], Any] = finished
    may_lose: int = 0
    needs_no_copy: bool = False
    in_graph: bool = False
    plain: Callable[[], tuple[Any, Callable[..., Any]]] | None = None
    original: Reader | None = None
    identity: Callable[[], str] = str

    @cached_property
    def stored_spec(self) -> Any:
        """The tf.TypeSpecs of a batch as it is stored."""
        import tensorflow as tf

        return tf.data.Dataset.range(1).batch(1).map(as_written(self.read)).element_spec

    def batch(self, numbers: Any) -> Any:
        """Return the batch of the examples with these numbers, in a graph.

        Args:
            numbers: a vector; or, where no example is left out, the vectors of several batches of
                one size, which become the first axis of all that is returned.
        """
        import tensorflow as tf

        if numbers.shape.rank == 1:
            return self.finish(self.read(numbers))

        def cut(part: Any) -> Any:
            shape = tf.concat([tf.shape(numbers), tf.shape(part)[1:]], 0)
            return tf.ensure_shape(tf.reshape(part, shape), [*numbers.shape, *part.shape[1:]])

        return tf.nest.map_structure(cut, self.batch(tf.reshape(numbers, [-1])))

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

        numbers = tf.data.Dataset.range(self.examples).batch(block_of(self.stored_spec))
        batches = numbers.map(self.batch, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
        examples = batches.unbatch()
        if self.may_lose:
            return examples
        return examples.apply(tf.data.experimental.assert_cardinality(self.examples))


def as_written(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for graphs that TensorFlow does not rewrite, which takes it long."""
    import tensorflow as tf

    return tf.autograph.experimental.do_not_convert(function)
