"""What this process is doing and how far it has come, for the other tasks to know."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# What a task does by itself, such as a long callback, may take so many times as long as a step.
SLOW = 10.0


@dataclass(frozen=True)
class Doing:
    """What a process is doing.

    Attributes:
        what: In words that follow "it ".
        together: Whether it goes on only when the others do the same.
        patience: How many times `stall_seconds` others may have to wait for it.
    """

    what: str
    together: bool = False
    patience: float = SLOW


class Pulse:
    """Keeps account of what a process is doing; beginning or ending something is progress."""

    def __init__(self) -> None:
        self._doing: tuple[Doing, ...] = (Doing("runs the script"),)
        self._place = ""
        self._since = time.monotonic()

    @contextmanager
    def doing(self, what: str, together: bool = False, patience: float = SLOW) -> Iterator[None]:
        """Do something, of which the arguments are told (see `Doing`), until the block ends."""
        before = self._doing
        self._go_on((*before, Doing(what, together, patience)))
        try:
            yield
        finally:
            self._go_on(before)

    def leave(self, what: str, patience: float = SLOW) -> None:
        """Say what this process does when it is back in the script."""
        self._go_on((Doing(what, patience=patience), *self._doing[1:]))

    def reach(self, place: str) -> None:
        """Say how far training has come, in words that follow "at "."""
        self._place = place

    def touch(self) -> None:
        """Count the time without progress from now on."""
        self._since = time.monotonic()

    @property
    def is_together(self) -> bool:
        """Whether this process goes on only when the others do the same."""
        return self._doing[-1].together

    def beat(self) -> dict[str, Any]:
        """What is told to the others, as a JSON object."""
        now = self._doing[-1]
        return {
            "what": now.what,
            "together": now.together,
            "patience": now.patience,
            "place": self._place,
            "seconds": time.monotonic() - self._since,
        }

    def _go_on(self, doing: tuple[Doing, ...]) -> None:
        self._doing = doing
        self._since = time.monotonic()


PULSE = Pulse()
