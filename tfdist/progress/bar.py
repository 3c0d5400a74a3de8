"""A bar for the whole run, in one line of the terminal; a launcher shows it for its tasks."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from tfdist.cluster.variables import variable
from tfdist.progress.look import Look
from tfdist.progress.observer import Observer

# A launcher on a terminal sets this for its tasks, and draws each line that begins with the mark.
ASKED = "TFDIST_BAR"
MARK = "\r"
_SECONDS = 0.5
_CELLS = 20


def is_wanted() -> bool:
    """Whether what this task writes ends up on a terminal."""
    return sys.stdout.isatty() or bool(variable(ASKED))


class Bar(Observer):
    """Draws how far the whole run is, how fast, and how long it will still take, on the chief."""

    def __init__(self) -> None:
        super().__init__(every_seconds=_SECONDS)
        self._is_drawn = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Draw as soon as the first steps are done."""
        super().on_epoch_begin(epoch, logs)
        self._looked -= _SECONDS

    def see(self, look: Look) -> None:
        """Draw."""
        if self.engine.is_chief:
            self._draw(as_bar(look))

    def see_epoch(self, look: Look) -> None:
        """Leave a line for each epoch."""
        if self.engine.is_chief:
            self._draw("")
            write(as_epoch(look) + "\n")

    def on_train_end(self, logs: Any = None) -> None:
        """Leave nothing behind."""
        super().on_train_end(logs)
        if self._is_drawn:
            self._draw("")

    def _draw(self, text: str) -> None:
        self._is_drawn = bool(text)
        if sys.stdout.isatty():
            text = text[: shutil.get_terminal_size().columns - 1]
            write(f"{MARK}{text}\x1b[K")  # of ECMA-48: erase to the end of the line
        else:
            write(f"{MARK}{text}\n")


def as_bar(look: Look) -> str:
    """A look as a bar; without cells and time where the length of the run is not known."""
    done = share(look)
    if done is None:
        return words(look)
    full = round(_CELLS * done)
    return f"[{'#' * full}{'.' * (_CELLS - full)}] {done:4.0%}  {words(look)}"


def share(look: Look) -> float | None:
    """The part of the whole run that is done, 0 to 1; None where its length is not known."""
    if look.steps_per_epoch is None:
        return None
    done = (look.epoch - 1) * look.steps_per_epoch + look.step_in_epoch
    return done / (look.epochs * look.steps_per_epoch)


def words(look: Look) -> str:
    """Where a run is, how fast, how long it will still take, its loss and metrics."""
    of = "" if look.steps_per_epoch is None else f"/{look.steps_per_epoch:,}"
    parts = [f"epoch {look.epoch}/{look.epochs}", f"step {look.step_in_epoch:,}{of}"]
    return "  ".join([*parts, *_rates(look), *_left(look), *_values(look)])


def as_epoch(look: Look) -> str:
    """The end of an epoch as a line."""
    return "  ".join([f"epoch {look.epoch}/{look.epochs}", *_rates(look), *_values(look)])


def write(text: str) -> None:
    """Write at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _rates(look: Look) -> list[str]:
    if look.examples_per_second is not None:
        return [f"{look.examples_per_second:,.0f} examples/s"]
    return [] if look.steps_per_second is None else [f"{look.steps_per_second:,.1f} steps/s"]


def _left(look: Look) -> list[str]:
    """How long training will still take at this speed, apart from validation."""
    if look.steps_per_epoch is None or not look.steps_per_second:
        return []
    steps = (look.epochs - look.epoch + 1) * look.steps_per_epoch - look.step_in_epoch
    minutes, seconds = divmod(round(steps / look.steps_per_second), 60)
    hours, minutes = divmod(minutes, 60)
    return [f"{hours}:{minutes:02}:{seconds:02} left"]


def _values(look: Look) -> list[str]:
    return [f"{name} {value:.4g}" for name, value in look.logs.items()]
