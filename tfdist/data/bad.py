"""Which examples cannot be read, and how many of them are too many?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from absl import logging

from tfdist.errors import UsageError


class BadExamples:
    """The examples of one dataset that were left out, each counted once however often it is read.

    Attributes:
        most: how many may be left out.
        reasons: why each was left out, by the name of its file or record.
        refusal: the error that says there are too many, once there are.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.reasons: dict[str, str] = {}
        self.refusal: UsageError | None = None
        self._lock = Lock()

    def add(self, where: str, reason: str) -> None:
        """Count an example that cannot be read.

        Raises:
            UsageError: there are more than `most`.
        """
        with self._lock:
            if where in self.reasons:
                return
            self.reasons[where] = reason
            count = len(self.reasons)
            if count > self.most:
                self.refusal = self.refusal or self._too_many(where, reason, count)
                raise self.refusal
        logging.warning("left out %s (%s): %d of at most %d", where, reason, count, self.most)

    def _too_many(self, where: str, reason: str, count: int) -> UsageError:
        sofar = f"{count} examples cannot be read, the last one {where}"
        return UsageError(
            f"{where if count == 1 else sofar} ({reason}), and --max_bad_examples is {self.most}: "
            "repair or remove what is named, or allow more"
        )

    @contextmanager
    def told(self) -> Iterator[None]:
        """Raise, for TensorFlow's error in the block, the UsageError that caused it, if one did."""
        import tensorflow as tf

        try:
            yield
        except tf.errors.OpError as error:
            if self.refusal is None:
                raise
            raise self.refusal from error


def lenient(
    read_one: Callable[[Any], Any], where: Callable[[int], str], bad: BadExamples
) -> Callable[[Any], Any]:
    """Return the function, for graphs, that reads the examples of a vector of numbers, as a batch.

    Args:
        read_one: in a graph, from one number to its example; it may fail.
        where: the name of the file or record of a number.
        bad: counts the examples that are left out because `read_one` fails.
    """
    import tensorflow as tf

    def report(numbers: Any, found: Any) -> None:
        for number in sorted(set(numbers.tolist()) - set(found.tolist())):
            bad.add(where(number), _reason(read_one, number))

    def read(numbers: Any) -> Any:
        found, batch = _those_that_succeed(read_one, numbers)
        check = tf.cond(
            tf.size(found) < tf.size(numbers),
            lambda: tf.numpy_function(report, [numbers, found], []),
            tf.no_op,
        )
        with tf.control_dependencies([check]):
            return tf.nest.map_structure(tf.identity, batch)

    return read


def _those_that_succeed(read_one: Callable[[Any], Any], numbers: Any) -> tuple[Any, Any]:
    """The numbers whose examples can be read, and these examples as a batch."""
    import tensorflow as tf

    # Only a dataset goes on after an error, and costs less than a call into Python.
    single = tf.data.Dataset.from_tensor_slices(numbers).map(lambda n: (n, read_one(n)))
    most = tf.maximum(tf.size(numbers, tf.int64), 1)
    batch = single.ignore_errors().batch(most)
    none = tf.nest.map_structure(
        lambda spec: tf.zeros([0, *spec.shape], spec.dtype), single.element_spec
    )
    return batch.concatenate(tf.data.Dataset.from_tensors(none)).take(1).get_single_element()


def _reason(read_one: Callable[[Any], Any], number: int) -> str:
    import tensorflow as tf

    try:
        read_one(tf.constant(number, tf.int64))
    except Exception as error:  # Whatever it was, it is what is to be told.
        text = re.sub(r"\{\{.*?\}\}|\[Op:.*?\]", "", str(error)).strip()
        return re.split(r"\. |\n", text)[0].rstrip(". ") or type(error).__name__
    return "it could not be read the first time"
