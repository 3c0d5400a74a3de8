"""Which checkpoints are in a folder, which is the one to go on from, and which are kept?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from tfdist.checkpoint.leaving import NAME as LEFT_OUT
from tfdist.checkpoint.places import Place, Remote, remove_folder
from tfdist.checkpoint.position import Position, parse
from tfdist.checkpoint.storage import MANIFEST, DamagedError, read_manifest, remove, verify
from tfdist.errors import UsageError

_LARGER_IS_BETTER = ("acc", "auc", "precision", "recall", "f1", "r2", "iou", "similarity")


def positions(folder: Place) -> list[Position]:
    """Return where the checkpoints in a folder were made, the earliest first."""
    if not folder.is_dir():
        return []
    found = (parse(path.name) for path in folder.iterdir() if _is_there(path))
    return sorted(position for position in found if position is not None)


def newest(
    folder: Place, epochs: int, say: Callable[[str], None]
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


def prune(folder: Place, keep: int, best: str | None, damaged: Collection[str]) -> None:
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


def clear(folder: Place) -> None:
    """Remove what a process that was killed left unfinished."""
    paths: list[Place] = list(folder.iterdir())
    for path in paths:
        is_part = isinstance(path, Remote) and parse(path.name) and not _is_there(path)
        if path.name.startswith(".step-") or is_part:
            remove_folder(path)


def set_aside(folder: Place) -> Place | None:
    """Move all checkpoints to a folder beside them; return it, or None when there are none."""
    found = positions(folder)
    if not found:
        return None
    number = 1 + sum(path.name.startswith("earlier-") for path in folder.iterdir())
    aside = folder / f"earlier-{number}"
    aside.mkdir()
    for position in found:
        (folder / position.name).rename(aside / position.name)  # type: ignore[arg-type]
    if (folder / LEFT_OUT).exists():
        (folder / LEFT_OUT).rename(aside / LEFT_OUT)  # type: ignore[arg-type]
    return aside


def _is_there(path: Place) -> bool:
    return (path / MANIFEST).exists() if isinstance(path, Remote) else path.is_dir()


def better(metric: str, value: float, than: float) -> bool:
    """Whether a value of a metric is better than another; NaN is never."""
    sign = 1 if any(part in metric for part in _LARGER_IS_BETTER) else -1
    return sign * value > sign * than or (than != than and value == value)


def _best(folder: Place, candidates: list[Position], metric: str) -> list[Position]:
    best: tuple[float, Position] | None = None
    for position in candidates:
        try:
            value = read_manifest(folder / position.name)["logs"].get(metric)
        except DamagedError:
            continue
        is_number = isinstance(value, (int, float)) and value == value
        if is_number and (best is None or not better(metric, best[0], value)):  # the last of equals
            best = (value, position)
    return [] if best is None else [best[1]]
