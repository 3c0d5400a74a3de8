"""How a process of a cluster ends, told to the others, so that nobody waits for it."""

from __future__ import annotations

import atexit
import sys
from types import TracebackType

from tfdist.cluster import Channel, Cluster
from tfdist.errors import (
    EXIT_AGAIN,
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_USAGE,
    StartAgainError,
    UsageError,
)


class Ending:
    """Tells the other tasks, once, with which code this process ends.

    At the end of the interpreter that is 0, or the code of the exception that ends it: 2 for
    UsageError, 75 for StartAgainError, else 1. Python keeps the code of sys.exit() to itself: who
    ends by that calls `tell` before. Servers are told the coordinator's code, whatever it is;
    between workers in step, who fails leaves without a word and is lost to the others.
    """

    def __init__(self, cluster: Cluster, channel: Channel) -> None:
        self._cluster = cluster
        self._channel = channel
        self._code = EXIT_DONE
        self._told = False
        self._next_hook = sys.excepthook
        sys.excepthook = self._failed
        atexit.register(self._ended)

    def tell(self, code: int) -> None:
        """Say with which code this process ends."""
        if self._told:
            return
        self._told = True
        if self._cluster.has_ps:
            self._channel.finish(code)
        if code == EXIT_DONE:
            self._channel.close()

    def _failed(
        self,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
    ) -> None:
        self._code = _code_of(error)
        self._next_hook(kind, error, traceback)

    def _ended(self) -> None:
        self.tell(self._code)


def _code_of(error: BaseException) -> int:
    if isinstance(error, StartAgainError):
        return EXIT_AGAIN
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
