"""Start a group again when that may help, and say why."""

from collections.abc import Callable

from tfdist.cluster import Task
from tfdist.errors import StartAgainError
from tfdist.launch.ended import Ended, describe, deserters, first_failure, may_start_again
from tfdist.launch.screen import Screen
from tfdist.launch.signals import Signals

_LONGEST_WAIT_SECONDS = 60


class Restarts:
    """How many restarts a job has, of all tasks or of one.

    Args:
        at_most: All together.
        first_wait_seconds: Before the first; before each other one twice as long as before the
            last.
    """

    def __init__(self, at_most: int, first_wait_seconds: float = 1) -> None:
        self._at_most = at_most
        self._first_wait_seconds = first_wait_seconds
        self._taken = 0

    @property
    def left(self) -> int:
        """How many are left."""
        return self._at_most - self._taken

    @property
    def seconds(self) -> float:
        """How long to wait before the next one."""
        return min(self._first_wait_seconds * 2**self._taken, _LONGEST_WAIT_SECONDS)

    def take(self) -> str:
        """Take one; which it is, such as "2 of 3"."""
        self._taken += 1
        return f"{self._taken} of {self._at_most}"


def run_again(
    once: Callable[[], list[Ended]], restarts: Restarts, screen: Screen, signals: Signals
) -> Ended | None:
    """Call `once` until the tasks end well, or fail in a way that another try does not mend.

    Exit code 75 and a death by signal (out of memory, a lost machine) are worth another try; a bug
    and wrong usage are not, nor a task that leaves the others alone as it did the last time.

    Returns:
        The failure that is left; None when all ended well.

    Raises:
        StartAgainError: the tasks could not be started, and no restart is left.
        KeyboardInterrupt, SystemExit: a signal came.
    """
    left_before: list[Task] = []
    while True:
        try:
            ended = once()
            cause = first_failure(ended)
            signals.end_as_asked()
            if cause is None:
                return None
            tell(cause, screen)
            if not may_start_again(cause) or not restarts.left:
                return cause
            left = deserters(ended)
            if left and left == left_before:
                screen.say(f"{left[0]} has ended before the others again: no restart mends that")
                return cause
            left_before = left
        except StartAgainError as error:
            if not restarts.left:
                raise
            screen.say(str(error))
        seconds = restarts.seconds
        screen.mark(f"starting all tasks again in {seconds:g} s (restart {restarts.take()})")
        signals.wait(seconds)
        signals.end_as_asked()


def tell(cause: Ended, screen: Screen) -> None:
    """Show which task failed first, how, and what it said last."""
    screen.say(
        f"{cause.task} on {cause.host} failed: {describe(cause)}. Its last lines, of all in "
        f"{screen.files[cause.task]}:"
    )
    for line in screen.last_lines(cause.task) or ["(none)"]:
        screen.say(f"  | {line}")
