"""Writes checkpoints, beside the training if it may, and knows which is the last whole one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tfdist.checkpoint import folder
from tfdist.checkpoint.content import Content
from tfdist.checkpoint.places import Place
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.say import say
from tfdist.errors import UsageError

_TELL_SECONDS = 1.0  # saves that follow each other faster are told of together


class Writer:
    """Writes to a folder of checkpoints, one after the other, and removes those not to be kept.

    Args:
        path: Of the folder.
        keep: How many of the last ones are kept.
        keep_best: A metric by which the best one is kept too.
        beside: Write in a thread, while training goes on.
        told: Takes a sentence about what is written, once a second at most.
    """

    def __init__(
        self,
        path: Place,
        keep: int,
        keep_best: str | None,
        beside: bool,
        told: Callable[[str], None],
    ) -> None:
        self._whole: Place | None = None
        self.damaged: list[str] = []
        self.seconds: list[float] = []  # that each took
        self.still_seconds: list[float] = []  # that training stood still for each
        self._path, self._keep, self._keep_best = path, keep, keep_best
        self._beside, self._told = beside, told
        self._thread: threading.Thread | None = None
        self._last_told = float("-inf")
        self._failed: tuple[Place, OSError] | None = None

    @property
    def whole(self) -> Place | None:
        """The last one that is whole; when somebody has removed it, the last of those left."""
        if self._whole is None or self._whole.exists():
            return self._whole
        left = [at.name for at in folder.positions(self._path) if at.name not in self.damaged]
        return self._path / left[-1] if left else None

    @whole.setter
    def whole(self, path: Place | None) -> None:
        self._whole = path

    @property
    def is_busy(self) -> bool:
        """Whether one is still being written."""
        return self._thread is not None and self._thread.is_alive()

    def write(self, copy: Callable[[], Content], facts: dict[str, Any]) -> None:
        """Copy a run's state, and write it with facts for its manifest.

        Raises:
            UsageError: this one, or one before, could not be written.
        """
        begun = time.perf_counter()
        self.wait()
        content = copy()
        position = content.position
        if self._beside:
            self._thread = threading.Thread(target=self._try, args=(content, facts, begun))
            self._thread.start()
        else:
            self._try(content, facts, begun)
        self.still_seconds.append(time.perf_counter() - begun)
        if not self._beside:
            self.wait()
            self._tell(position)

    def wait(self) -> None:
        """Wait until all is written.

        Raises:
            UsageError: something could not be.
        """
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._failed is not None:
            (path, error), self._failed = self._failed, None
            raise UsageError(
                f"checkpoint {path} could not be written ({error.strerror}); the last whole one is "
                f"{self.whole or 'none'}: make room, or give another folder"
            ) from error

    def account(self) -> dict[str, Any]:
        """Return how many were written by this process, and the seconds that all took."""
        return {
            "saves": len(self.seconds),
            "save_seconds": round(sum(self.seconds), 3),
            "save_still_seconds": round(sum(self.still_seconds), 3),
        }

    def _try(self, content: Content, facts: dict[str, Any], begun: float) -> None:
        path = self._path / content.position.name
        try:
            if self._whole is not None and not self._path.exists():
                say(f"{self._path} was removed, with the checkpoints in it: it is made anew")
            content.write(self._path, facts)
            self.whole = path
            folder.prune(self._path, self._keep, self._keep_best, self.damaged)
        except OSError as error:
            self._failed = (path, error)
        self.seconds.append(time.perf_counter() - begun)
        if self._beside and self._failed is None:
            self._tell(content.position)

    def _tell(self, position: Position) -> None:
        if time.monotonic() < self._last_told + _TELL_SECONDS:
            return
        self._last_told = time.monotonic()
        still = f", training stood still for {self.still_seconds[-1]:.3f} s" if self._beside else ""
        self._told(f"saved after {position} in {self.seconds[-1]:.3f} s{still}")
