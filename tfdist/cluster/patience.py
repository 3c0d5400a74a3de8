"""How long to wait, and when to say for whom."""

import sys
import time


class Patience:
    """A limit of time, with a sentence on standard error at regular times until it is reached."""

    def __init__(self, wait_seconds: float, say_every_seconds: float) -> None:
        self.wait_seconds = wait_seconds
        self._say_every_seconds = say_every_seconds
        self._start = time.monotonic()
        self._next_sentence = self._start + say_every_seconds

    @property
    def seconds_left(self) -> float:
        """Until the limit; 0 after it."""
        return max(0.0, self._start + self.wait_seconds - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether the limit is reached."""
        return self.seconds_left == 0

    @property
    def pause_seconds(self) -> float:
        """How long one may do nothing: until the next sentence or the limit."""
        return min(self.seconds_left, max(0.0, self._next_sentence - time.monotonic()))

    def end_within(self, seconds: float) -> None:
        """Bring the limit nearer, to `seconds` from now at the most."""
        self.wait_seconds = min(self.wait_seconds, time.monotonic() - self._start + seconds)

    def time_to_say(self) -> bool:
        """Whether a sentence is due; the next one is due `say_every_seconds` later."""
        due = time.monotonic() >= self._next_sentence
        if due:
            self._next_sentence = time.monotonic() + self._say_every_seconds
        return due

    def say(self, who: object, waits_for: str) -> None:
        """One line: who waits, how long already, and for whom."""
        waited = time.monotonic() - self._start
        sys.stderr.write(
            f"tfdist: {who} has waited {waited:.0f} of {self.wait_seconds:.0f} s for {waits_for}\n"
        )
        sys.stderr.flush()
