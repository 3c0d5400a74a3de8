"""Which checkpoints of a training under way are new, and has it ended?"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

from tfdist.checkpoint import content
from tfdist.checkpoint.folder import positions
from tfdist.checkpoint.places import Place
from tfdist.checkpoint.storage import DamagedError, verify
from tfdist.errors import StartAgainError

_LOOK_SECONDS = 0.5
_SAY_SECONDS = 600
_MOST_SECONDS = 86_400  # a day without a checkpoint: nobody writes there any more


def follow(
    folder: Place,
    epochs: int,
    known: Collection[str],
    say: Callable[[str], None],
    most_seconds: float = _MOST_SECONDS,
) -> Iterator[content.Content]:
    """Return each checkpoint of a run, the earliest first, until that with which it ends.

    Args:
        folder: Of the checkpoints; it may come later.
        epochs: That the run trains for: one that ended before goes on.
        known: Names of those that are left out.
        say: Takes a sentence for each that is damaged, and when none comes for long.
        most_seconds: To wait for the next one.

    Raises:
        StartAgainError: none came in time.
    """
    seen, last = set(known), time.monotonic()
    said = last
    while True:
        ended = False
        for position in positions(folder):
            found = _read(folder / position.name, position.name in seen, say)
            seen.add(position.name)
            ended = ended or (position.end and _is_last(folder / position.name, epochs))
            if found is not None:
                yield found
                said = last = time.monotonic()
        if ended:
            return
        if time.monotonic() > last + most_seconds:
            raise StartAgainError(
                f"no new checkpoint came to {folder} within {most_seconds:g} s: look whether "
                "training goes on, and start again"
            )
        if time.monotonic() > said + _SAY_SECONDS:
            said = time.monotonic()
            say(f"waits for the next checkpoint in {folder}")
        time.sleep(_LOOK_SECONDS)


def _read(path: Place, is_known: bool, say: Callable[[str], None]) -> content.Content | None:
    if is_known:
        return None
    try:
        return content.read(path, verify(path))
    except (DamagedError, OSError) as error:
        if path.exists():  # else it was removed, for newer ones came
            say(f"checkpoint {path} is damaged ({error}): it is skipped")
        return None


def _is_last(path: Place, epochs: int) -> bool:
    try:
        manifest: dict[str, Any] = verify(path)
    except DamagedError:
        return False
    return manifest["stopped"] or epochs <= manifest["epochs"]
