"""`tfdist.Lines`: a line every so many steps, for output that is no terminal."""

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

from tfdist.errors import UsageError
from tfdist.progress.look import Look
from tfdist.progress.observer import Observer

FORMATS = ("text", "json")


class Lines(Observer):
    """Writes a line to standard output every so many steps, on the chief.

    Args:
        every_steps: Steps from one line to the next; None for a line at the end of each epoch only.
        format: "text", or "json" for one object a line, with a line for each epoch too.

    Raises:
        UsageError: a value is wrong.
    """

    def __init__(self, every_steps: int | None = None, format: str = "text") -> None:
        super().__init__(every_steps)
        if format not in FORMATS:
            raise UsageError(f"format is {format!r}: give one of {', '.join(FORMATS)}")
        self._is_json = format == "json"

    def see(self, look: Look) -> None:
        """Write a line."""
        if self.engine.is_chief:
            write(as_json("step", look) if self._is_json else as_text(look))

    def see_epoch(self, look: Look) -> None:
        """Write a line in JSON; in text Keras does."""
        if self._is_json and self.engine.is_chief:
            write(as_json("epoch", look))


def as_text(look: Look) -> str:
    """A look as one line for people."""
    of = "" if look.steps_per_epoch is None else f"/{look.steps_per_epoch}"
    parts = [
        f"step {look.step:,}",
        f"epoch {look.epoch}/{look.epochs}, {look.step_in_epoch}{of}",
        *(f"{name} {value:.4g}" for name, value in look.logs.items()),
    ]
    if look.examples_per_second is not None:
        parts.append(f"{look.examples_per_second:,.0f} examples/s")
    elif look.steps_per_second is not None:
        parts.append(f"{look.steps_per_second:,.1f} steps/s")
    if look.input_share is not None:
        parts.append(f"{look.input_share:.0%} waiting for input")
    return " - ".join(parts)


def as_json(event: str, look: Look) -> str:
    """A look as one line for programs; what is not known or not finite is null."""
    numbers = {
        "step": look.step,
        "epoch": look.epoch,
        "epochs": look.epochs,
        "step_in_epoch": look.step_in_epoch,
        "steps_per_epoch": look.steps_per_epoch,
        "steps_per_second": look.steps_per_second,
        "examples_per_second": look.examples_per_second,
        "input_share": look.input_share,
    }
    return line_of({"event": event, **numbers, **look.logs})


def line_of(content: Mapping[str, Any]) -> str:
    """Some values as one line of JSON."""
    return json.dumps({name: _plain(value) for name, value in content.items()})


def write(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if math.isfinite(value) else None
