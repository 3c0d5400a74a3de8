"""The first thing in which two tasks of one job differ."""

import json
from collections.abc import Iterator
from typing import Any

_ABSENT = object()
_SHOWN_CHARACTERS = 200


def first_difference(ours: Any, theirs: Any) -> tuple[str, str, str] | None:
    """Where two JSON values first differ, in the order of `ours`: its path, and both values."""
    return next(_differences(ours, theirs, ""), None)


def _differences(ours: Any, theirs: Any, path: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            inside = f"{path}.{key}" if path else key
            yield from _differences(ours.get(key, _ABSENT), theirs.get(key, _ABSENT), inside)
    elif ours != theirs or type(ours) is not type(theirs):
        yield path, _shown(ours), _shown(theirs)


def _shown(value: Any) -> str:
    text = "absent" if value is _ABSENT else json.dumps(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "..."
