"""What TensorFlow says of a lost worker at length is left out: tfdist has said it in a sentence."""

from __future__ import annotations

import logging
import time

from tfdist.cluster import Channel

# Of its coordinator, which says so only where the steps are run again.
_SAID_BETTER = ("Worker %s failed with", "Cluster update failed with error")
_HEAR_SECONDS = 3.0  # TensorFlow may hear of the loss before the channel does
_LOOK_AGAIN_SECONDS = 0.05


class SaidBetter(logging.Filter):
    """Leaves out what is said of workers as long as the channel misses one.

    Args:
        channel: The line to the other tasks, whose losses are told.
    """

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is shown."""
        if not str(record.msg).startswith(_SAID_BETTER):
            return True
        deadline = time.monotonic() + _HEAR_SECONDS
        while not self._channel.missing and time.monotonic() < deadline:
            time.sleep(_LOOK_AGAIN_SECONDS)
        return not self._channel.missing


def say_it_better(channel: Channel) -> None:
    """Leave it out from now on."""
    logging.getLogger("tensorflow").addFilter(SaidBetter(channel))
