"""Where in a run a checkpoint was made, and what its folder is called."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"step-(\d{9,})-epoch-(\d{5,})(-end)?")


@dataclass(frozen=True, order=True)
class Position:
    """A point of a run; a later one is greater.

    Attributes:
        step: Training steps done since the run began.
        epoch: Number, from 0, of the epoch that goes on.
        end: Whether training had ended.
        step_in_epoch: Steps of that epoch that are done.
    """

    step: int
    epoch: int
    end: bool = False
    step_in_epoch: int = 0

    @property
    def name(self) -> str:
        """The name of a checkpoint's folder."""
        return f"step-{self.step:09d}-epoch-{self.epoch:05d}{'-end' if self.end else ''}"

    def __str__(self) -> str:
        """Tell it to a person."""
        return f"step {self.step} (step {self.step_in_epoch} of epoch {self.epoch + 1})"


def parse(name: str) -> Position | None:
    """Return what a folder's name tells, None when it is no checkpoint's."""
    found = _NAME.fullmatch(name)
    return Position(int(found[1]), int(found[2]), bool(found[3])) if found else None
