"""A callback that acts between calls of many steps, and may let training begin in mid-epoch."""

from collections.abc import Sequence
from typing import Any

import keras

_MANY = 1 << 30


class BetweenCalls(keras.callbacks.Callback):
    """Base of callbacks that are told of the steps done, without a call for each step.

    They come after all other callbacks, so that they see what these did.

    Attributes:
        engine: What runs the steps; set before training begins.
        all: All callbacks of this `fit`; set before training begins.
        start: The epoch and the step in it at which training goes on; set in `on_train_begin`.
        skips_data: Whether the data is to be gone through up to there, or begins there.
        brings: Others that belong to it, which are told before it.
    """

    engine: Any = None
    all: Sequence[keras.callbacks.Callback] = ()
    start: tuple[int, int] | None = None
    skips_data = True
    brings: Sequence["BetweenCalls"] = ()

    @property
    def leaves_out(self) -> bool:
        """Whether there are batches to leave out."""
        return False

    def leave_out(self, done: int) -> int:
        """Return how many batches are left out after `done` steps, the same in every task."""
        return 0

    def limit(self, done: int) -> int:
        """Return the steps until it is to be told, the same in every task."""
        return _MANY

    def pause(self, kind: str, done: int) -> None:
        """Act after `done` steps of the epoch; of kind "train" or "test"."""

    def settled(self) -> None:
        """Look at what is about to be saved: all steps are computed and counted."""

    def on_train_failed(self) -> None:
        """Undo what was set up for training: an error ends it, and `on_train_end` will not come."""
