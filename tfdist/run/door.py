"""How a command ends: its mistakes as one line, and its exit code told to the other tasks."""

import sys
from collections.abc import Callable

from tfdist import interrupt
from tfdist.errors import (
    EXIT_AGAIN,
    EXIT_FAILED,
    EXIT_USAGE,
    FailedError,
    StartAgainError,
    UsageError,
)


def answer(command: Callable[[], int]) -> int:
    """Run a command and return its exit code; a bug leaves as the exception that it is."""
    reason = ""
    try:
        interrupt.raise_again()
        code = command()
    except UsageError as error:
        code, reason = _say(error, EXIT_USAGE), str(error)
    except StartAgainError as error:
        code = _say(error, EXIT_AGAIN)
    except FailedError as error:
        code = _say(error, EXIT_FAILED)
    except KeyboardInterrupt:
        code = _say("interrupted", interrupt.EXIT_INTERRUPTED)
    _tell_the_others(code, reason)
    return code


def _say(sentence: object, code: int) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
    return code


def _tell_the_others(code: int, reason: str) -> None:
    # A command that never asked for a strategy has no others, and need not load what it takes.
    if "tfdist.factory" in sys.modules:
        sys.modules["tfdist.factory"].finish(code, reason)
