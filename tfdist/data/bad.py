"""How many examples cannot be read, and how many are too many?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

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
            if self.refusal is None and where in self.reasons:
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
