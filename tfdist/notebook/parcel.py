"""What travels between the notebook and its tasks: a function there, a result or an error back."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfdist.cluster import Task
from tfdist.errors import UsageError
from tfdist.notebook.result import Result

_CALL, _PATH = "call.pickle", "path.json"


class TaskTracebackError(Exception):
    """The traceback of an exception in the task where it was raised."""

    def __str__(self) -> str:
        return self.args[0]


def send(folder: Path, fn: Callable, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Leave a call for the tasks.

    Raises:
        UsageError: it cannot be pickled.
    """
    import cloudpickle

    try:
        call = cloudpickle.dumps((fn, tuple(args), dict(kwargs)))
    except Exception as error:  # pickling runs code of whatever the function refers to
        raise UsageError(
            f"{getattr(fn, '__name__', fn)!r} cannot be sent to other processes ({error}): let it "
            "make models, strategies and datasets itself, instead of using those of the notebook"
        ) from error
    (folder / _PATH).write_text(json.dumps([os.getcwd(), *(each for each in sys.path if each)]))
    (folder / _CALL).write_bytes(call)


def search_path(folder: Path) -> list[str]:
    """Return where the notebook looks for modules."""
    return json.loads((folder / _PATH).read_text())


def call(folder: Path) -> Any:
    """Call what was left, and return what it returns."""
    import cloudpickle

    fn, args, kwargs = cloudpickle.loads((folder / _CALL).read_bytes())
    return fn(*args, **kwargs)


def give(folder: Path, task: Task, result: Result) -> None:
    """Leave a task's result."""
    import cloudpickle

    _write(_file(folder, task, "result"), cloudpickle.dumps(result))


def receive(folder: Path, task: Task) -> Result:
    """Return the result of a task."""
    import cloudpickle

    return cloudpickle.loads(_file(folder, task, "result").read_bytes())


def give_error(folder: Path, task: Task, error: BaseException) -> None:
    """Leave the exception that a task ends with."""
    import cloudpickle

    text = "".join(traceback.format_exception(error))
    try:
        content = cloudpickle.dumps((error, text))
        cloudpickle.loads(content)  # some exceptions can be pickled, but not made again
    except Exception:
        content = cloudpickle.dumps((RuntimeError(f"{type(error).__name__}: {error}"), text))
    _write(_file(folder, task, "error"), content)


def error(folder: Path, task: Task) -> BaseException | None:
    """Return the exception that a task ended with, None when it left none."""
    import cloudpickle

    file = _file(folder, task, "error")
    if not file.exists():
        return None
    found, text = cloudpickle.loads(file.read_bytes())
    found.__cause__ = TaskTracebackError(f"in {task}:\n{text}")
    return found


def _file(folder: Path, task: Task, kind: str) -> Path:
    return folder / f"{task.type}-{task.index}.{kind}"


def _write(file: Path, content: bytes) -> None:
    aside = file.with_suffix(".tmp")
    aside.write_bytes(content)
    aside.rename(file)
