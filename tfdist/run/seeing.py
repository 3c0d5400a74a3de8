"""What shows a run while it goes, as its settings ask for."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tfdist.progress.bar import Bar, is_wanted
from tfdist.progress.board import Board
from tfdist.progress.lines import Lines, line_of
from tfdist.progress.steps import parse
from tfdist.progress.trace import Trace
from tfdist.run.settings import Settings
from tfdist.training.between import BetweenCalls


def observers(settings: Settings) -> list[BetweenCalls]:
    """Return the callbacks that show this run, the same in every task."""
    found: list[BetweenCalls] = []
    if _has_bar(settings):
        found.append(Bar())
    elif settings.log_format == "json" or (settings.log_every and shown(settings) == 2):
        found.append(Lines(settings.log_every, settings.log_format))
    if settings.log_dir is None:
        return found
    everyone = settings.log_tasks == "all"
    board = Board(settings.log_dir, settings.log_every, everyone, settings.log_graph)
    board.text("flags", {name: v for name, v in asdict(settings).items() if v is not None})
    found.append(board)
    if settings.profile_steps is not None:
        first, end = parse("--profile_steps", settings.profile_steps)
        found.append(Trace(settings.log_dir, first, end, everyone))
    return found


def opening(settings: Settings, text: str) -> str:
    """Return what a run says first, in the format that was asked for."""
    if settings.log_format == "text":
        return text
    return line_of({"event": "start", "text": text}) + "\n"


def shown(settings: Settings) -> int:
    """What Keras itself shows: 0 nothing, 2 a line an epoch."""
    has_lines = settings.log_format == "text" and settings.verbose in ("auto", "2")
    return 2 if has_lines and not _has_bar(settings) else 0


def _has_bar(settings: Settings) -> bool:
    wanted = settings.verbose == "1" or (settings.verbose == "auto" and is_wanted())
    return wanted and settings.log_format == "text"


def tell(observers: Sequence[BetweenCalls], record: Mapping[str, Any]) -> None:
    """Show the run record where flags are shown."""
    for each in observers:
        if isinstance(each, Board):
            each.text("run record", record)
