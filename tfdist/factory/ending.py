"""How a process of a cluster ends, told to the others, so that nobody waits for it."""

from __future__ import annotations

import atexit
import functools
import logging
import os
import sys
from contextlib import suppress
from types import TracebackType
from typing import NoReturn

from tfdist.cluster import Channel, Cluster
from tfdist.errors import (
    EXIT_AGAIN,
    EXIT_DONE,
    EXIT_USAGE,
    FailedError,
    StartAgainError,
    UsageError,
    code_of,
)

_REASON_CHARACTERS = 500


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
        self._reason = ""
        self._told = False
        self._next_hook = sys.excepthook
        sys.excepthook = self._failed
        atexit.register(self._ended)

    def tell(self, code: int, reason: str = "") -> None:
        """Say with which code this process ends, and why when it failed."""
        if self._told:
            return
        self._told = True
        if reason:
            self._channel.fail(reason)
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
        self._code = code_of(error)
        self._reason = f"{kind.__name__}: {error}"[:_REASON_CHARACTERS]
        self._next_hook(kind, error, traceback)

    def _ended(self) -> None:
        self.tell(self._code, self._reason)


@functools.cache
def end_with_code_of_error() -> None:
    """Let an error that one sentence explains end this process by that sentence and its own code.

    Python would show where it was raised, which is not where the mistake is, and end with code 1.
    Who sets `logging` to DEBUG sees that as well.
    """
    next_hook = sys.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not isinstance(error, (UsageError, StartAgainError, FailedError)):
            next_hook(kind, error, traceback)
            return
        logging.getLogger("tfdist").debug("raised here", exc_info=(kind, error, traceback))
        sys.stderr.write(f"{error}\n")
        # Somebody at a prompt goes on.
        if code_of(error) in (EXIT_USAGE, EXIT_AGAIN) and not hasattr(sys, "ps1"):
            _end_process(code_of(error))

    sys.excepthook = hook


def _end_process(code: int) -> NoReturn:
    """End as the interpreter does, but for the code."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody may be there to read
            stream.flush()
    os._exit(code)
