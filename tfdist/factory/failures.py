"""What an error of TensorFlow means: a mistake told by tfdist in a graph, or the loss of a task."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tfdist.errors import StartAgainError, UsageError
from tfdist.factory.context import last

if TYPE_CHECKING:
    import tensorflow as tf

# Python's function in a graph gives its error to TensorFlow as text; a sentence of ours is a line.
_OURS = re.compile(r"\b(UsageError|StartAgainError): ([^\n]+)")
_KINDS = {"UsageError": UsageError, "StartAgainError": StartAgainError}
# TensorFlow may hear of a lost task before the channel does.
_HEAR_SECONDS = 3.0
_LOOK_AGAIN_SECONDS = 0.05


@contextmanager
def translated() -> Iterator[None]:
    """Raise an error of TensorFlow as the one that says its cause, where one is known."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        cause = _cause(error)
        if cause is None:
            raise
        raise cause from error


def _cause(error: tf.errors.OpError) -> Exception | None:
    said = _OURS.search(error.message or "")
    if said is not None:
        return _KINDS[said[1]](said[2].strip())
    if not _comes_from_others(error):
        return None
    deadline = time.monotonic() + _HEAR_SECONDS
    while (cause := _lost()) is None and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return None if cause is None else StartAgainError(cause)


def _comes_from_others(error: tf.errors.OpError) -> bool:
    import tensorflow as tf

    context = last()
    if context is None or context.channel is None:
        return False
    kinds = "Unavailable", "Aborted", "Cancelled", "DeadlineExceeded", "Internal"
    is_one = isinstance(error, tuple(getattr(tf.errors, f"{kind}Error") for kind in kinds))
    return is_one or "Collective ops is aborted" in (error.message or "")


def _lost() -> str | None:
    context = last()
    if context is None or context.channel is None or context.watchdog is None:
        return None
    return context.channel.fatal or context.watchdog.suspect
