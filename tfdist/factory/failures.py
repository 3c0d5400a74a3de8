"""What an error of TensorFlow means: a mistake told by tfdist in a graph, or the loss of a task."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.watchdog import Watchdog
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
_NO_SERVER = "Could not start gRPC server"


@contextmanager
def translated() -> Iterator[None]:
    """Raise an error of TensorFlow as the one that says its cause, where one is known."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        context = last()
        cause = _cause(error, *((context.channel, context.watchdog) if context else (None, None)))
        if cause is None:
            raise
        raise cause from error


@contextmanager
def connecting(cluster: Cluster, channel: Channel, watchdog: Watchdog | None) -> Iterator[None]:
    """The same while TensorFlow connects the tasks, where whatever fails is worth another try.

    Raises:
        StartAgainError: a task is lost, or this one could not be connected.
    """
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        why = (error.message or type(error).__name__).splitlines()[0]
        what = f"{cluster.task} at {cluster.address(cluster.task)}"
        if _NO_SERVER in why:
            sentence = f"{what} could not open its port, which another program has taken meanwhile"
        else:
            sentence = f"{what} could not be connected to the other tasks by TensorFlow ({why})"
        cause = _cause(error, channel, watchdog)
        raise cause or StartAgainError(f"{sentence}; start the job again.") from error


def _cause(
    error: tf.errors.OpError, channel: Channel | None, watchdog: Watchdog | None
) -> Exception | None:
    said = _OURS.search(error.message or "")
    if said is not None:
        return _KINDS[said[1]](said[2].strip())
    if channel is None or not _comes_from_others(error):
        return None
    deadline = time.monotonic() + _HEAR_SECONDS
    while (cause := _lost(channel, watchdog)) is None and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    return None if cause is None else StartAgainError(cause)


def _comes_from_others(error: tf.errors.OpError) -> bool:
    import tensorflow as tf

    kinds = "Unavailable", "Aborted", "Cancelled", "DeadlineExceeded", "Internal"
    is_one = isinstance(error, tuple(getattr(tf.errors, f"{kind}Error") for kind in kinds))
    return is_one or "Collective ops is aborted" in (error.message or "")


def _lost(channel: Channel, watchdog: Watchdog | None) -> str | None:
    return channel.fatal or (None if watchdog is None else watchdog.suspect)
