"""Which batches are left out by a run that is started again? Kept beside its checkpoints."""

from __future__ import annotations

import json
from typing import Any

from tfdist.checkpoint.places import Place

NAME = "left_out.json"


class LeftOut:
    """Epochs and steps in them, from 0, whose batches are left out.

    Args:
        folder: Of the checkpoints.
    """

    def __init__(self, folder: Place) -> None:
        self._folder = folder

    def read(self) -> set[tuple[int, int]]:
        """Return them; none where nothing is kept."""
        file = self._folder / NAME
        if not file.exists():
            return set()
        return {(epoch, step) for epoch, step in json.loads(file.read_text(encoding="utf-8"))}

    def write(self, left_out: set[tuple[int, int]]) -> None:
        """Keep them, in place of those that are kept."""
        aside: Any = self._folder / f".{NAME}"
        aside.write_text(json.dumps(sorted(left_out)))
        aside.rename(self._folder / NAME)
