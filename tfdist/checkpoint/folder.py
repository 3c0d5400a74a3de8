"""Which checkpoints are in a folder, which is the one to go on from, and which are kept?"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from tfdist.checkpoint.position import Position, parse
from tfdist.checkpoint.storage import DamagedError, read_manifest, remove, verify
from tfdist.errors import UsageError

_LARGER_IS_BETTER = ("acc", "auc", "precision", "recall", "f1", "r2", "iou", "similarity")


def positions(folder: Path) -> list[Position]:
    """Return where the checkpoints in a folder were made, the earliest first."""
    if not folder.is_dir():
        return []
    found = (parse(path.name) for path in folder.iterdir() if path.is_dir())
    return sorted(position for position in found if position is not None)


def newest(
    folder: Path, epochs: int, say: Callable[[str], None]
) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the manifest to go on from, None when there is no checkpoint; and damaged ones' names.

    Args:
        folder: Where checkpoints are.
        epochs: To train for; a run that ended before them goes on from what was before its end.
        say: Takes a sentence for each damaged checkpoint.

    Raises:
        UsageError: there are checkpoints, and none is whole.
    """
    damaged: list[str] = []
    for position in reversed(positions(folder)):
        try:
            manifest = verify(folder / position.name)
        except DamagedError as error:
            damaged.append(position.name)
            say(f"checkpoint {folder / position.name} is damaged ({error}): it is skipped")
            continue
        if position.end and not (manifest["stopped"] or epochs <= manifest["epochs"]):
            continue
        return manifest, damaged
    if damaged:
        raise UsageError(
            f"none of the {len(damaged)} checkpoints in {folder} is whole: bring back a copy, or "
            "start afresh with resume 'never' or another folder"
        )
    return None, damaged


def prune(folder: Path, keep: int, best: str | None, damaged: Collection[str]) -> None:
    """Remove all but the last `keep` checkpoints, the one at the end, and the best by a metric."""
    whole = []
    for position in positions(folder):
        if position.name in damaged:
            remove(folder / position.name)
        else:
            whole.append(position)
    ends = [position for position in whole if position.end]
    others = [position for position in whole if not position.end]
    kept = {*ends[-1:], *others[-keep:], *(_best(folder, others, best) if best else ())}
    for position in whole:
        if position not in kept:
            remove(folder / position.name)


def clear(folder: Path) -> None:
    """Remove what a process that was killed left unfinished."""
    for path in folder.glob(".step-*"):
        shutil.rmtree(path, ignore_errors=True)


def set_aside(folder: Path) -> Path | None:
    """Move all checkpoints to a folder beside them; return it, or None when there are none."""
    found = positions(folder)
    if not found:
        return None
    number = 1 + sum(1 for _ in folder.glob("earlier-*"))
    aside = folder / f"earlier-{number}"
    aside.mkdir()
    for position in found:
        (folder / position.name).rename(aside / position.name)
    return aside


def _best(folder: Path, candidates: list[Position], metric: str) -> list[Position]:
    sign = 1 if any(part in metric for part in _LARGER_IS_BETTER) else -1
    values = []
    for position in candidates:
        try:
            value = read_manifest(folder / position.name)["logs"].get(metric)
        except DamagedError:
            continue
        if isinstance(value, (int, float)) and value == value:
            values.append((sign * value, position))
    return [max(values)[1]] if values else []
