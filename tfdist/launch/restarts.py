"""Start a group again when that may help, and say why."""

from collections.abc import Callable

from tfdist.cluster import Task
from tfdist.errors import StartAgainError
from tfdist.launch.ended import Ended, describe, deserters, first_failure, may_start_again
from tfdist.launch.screen import Screen
from tfdist.launch.signals import Signals

_LONGEST_WAIT_SECONDS = 60


def run_again(
    once: Callable[[], list[Ended]],
    max_restarts: int,
    screen: Screen,
    signals: Signals,
    first_wait_seconds: float = 1,
) -> Ended | None:
    """Call `once` until the tasks end well, or fail in a way that another try does not mend.

    Exit code 75 and a death by signal (out of memory, a lost machine) are worth another try; a bug
    and wrong usage are not, nor a task that leaves the others alone as it did the last time. Before
    each restart there are twice as many seconds as before the last.

    Returns:
        The failure that is left; None when all ended well.

    Raises:
        StartAgainError: the tasks could not be started, and no restart is left.
        KeyboardInterrupt, SystemExit: a signal came.
    """
    left_before: list[Task] = []
    for restart in range(max_restarts + 1):
        try:
            ended = once()
            cause = first_failure(ended)
            signals.end_as_asked()
            if cause is None:
                return None
            tell(cause, screen)
            if not may_start_again(cause) or restart == max_restarts:
                return cause
            left = deserters(ended)
            if left and left == left_before:
                screen.say(f"{left[0]} has ended before the others again: no restart mends that")
                return cause
            left_before = left
        except StartAgainError as error:
            if restart == max_restarts:
                raise
            screen.say(str(error))
        seconds = min(first_wait_seconds * 2**restart, _LONGEST_WAIT_SECONDS)
        screen.mark(
            f"starting all tasks again in {seconds:g} s (restart {restart + 1} of {max_restarts})"
        )
        signals.wait(seconds)
        signals.end_as_asked()
    return None


def tell(cause: Ended, screen: Screen) -> None:
    """Show which task failed first, how, and what it said last."""
    screen.say(
        f"{cause.task} on {cause.host} failed: {describe(cause)}. Its last lines, of all in "
        f"{screen.files[cause.task]}:"
    )
    for line in screen.last_lines(cause.task) or ["(none)"]:
        screen.say(f"  | {line}")
