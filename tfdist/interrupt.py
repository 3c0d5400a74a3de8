"""Ctrl-C while a command is still being loaded: one line, and the exit code that a shell gives."""

import os
import signal
import sys
from types import FrameType

EXIT_INTERRUPTED = 128 + signal.SIGINT


def is_command() -> bool:
    """Whether this process is about to run a command of tfdist, and so belongs to it alone."""
    if sys.argv[:1] == ["-m"]:  # while Python looks for the module
        return any(word.partition(".")[0] == "tfdist" for word in sys.orig_argv)
    return os.path.basename(sys.argv[0] if sys.argv else "") == "tfdist"


def end_at_once() -> None:
    """Let Ctrl-C end this process from now on; what is half loaded cannot be asked to end well."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # nobody ignores it
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """Let Ctrl-C be Python's KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(EXIT_INTERRUPTED)
