"""When is the next checkpoint due?"""

from __future__ import annotations

import time

from tfdist.errors import UsageError


class Cadence:
    """Checkpoints every so many steps, minutes and epochs; every epoch when nothing is given.

    Raises:
        UsageError: a number is not above 0.
    """

    def __init__(
        self, steps: int | None = None, minutes: float | None = None, epochs: int | None = None
    ) -> None:
        for name, value in (("steps", steps), ("minutes", minutes), ("epochs", epochs)):
            if value is not None and not value > 0:
                raise UsageError(
                    f"every_{name} is {value}, but must be above 0: give a larger number"
                )
        nothing = steps is None and minutes is None
        self._steps = steps
        self._seconds = None if minutes is None else minutes * 60
        self._epochs = 1 if nothing and epochs is None else epochs
        self.saved(0)

    def saved(self, step: int) -> None:
        """Note that one was made after so many steps."""
        self._last_step = step
        self._last_time = time.monotonic()

    def after_step(self, step: int) -> bool:
        """Return whether one is due after so many steps."""
        every = self._steps
        return every is not None and step // every > self._last_step // every

    def after_epoch(self, epoch: int) -> bool:
        """Return whether one is due after this epoch, counted from 0."""
        return self._epochs is not None and (epoch + 1) % self._epochs == 0

    def steps_left(self, step: int) -> int | None:
        """Return the steps until one is due, None when steps do not matter."""
        return None if self._steps is None else self._steps - step % self._steps

    @property
    def is_time(self) -> bool:
        """Whether one is due by this process' clock."""
        return self._seconds is not None and time.monotonic() - self._last_time >= self._seconds
