"""`tfdist.notebook.run`: a function, also one defined in a cell, in every task of a cluster."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfdist.cluster import Task
from tfdist.errors import UsageError
from tfdist.launch import Ended, first_failure, run_local, show
from tfdist.launch.ended import describe
from tfdist.notebook import parcel
from tfdist.notebook.result import Result
from tfdist.notebook.widget import ASKED, Widget, can_be_drawn
from tfdist.progress.needs import need

_LAST_LINES = 20


def run(
    fn: Callable[..., Any],
    workers: int = 2,
    ps: int = 0,
    *,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    quiet: bool = False,
    timeout_seconds: float | None = None,
) -> Result:
    """Run a function in every task of a cluster on this machine, in child processes.

    The function makes its own `tfdist.strategy()` and model, as a script would. This process loads
    no TensorFlow and keeps its environment. An interrupt stops the children alone; so the call may
    be repeated. Where the notebook has ipywidgets, a bar shows how far each `fit` is.

    Args:
        fn: Any function that can be pickled, with what it uses; it may return a History, a model,
            or any value that can be pickled, also in a list, tuple or dict.
        workers: Tasks that train; 1 without `ps` for a process without a cluster.
        ps: Parameter servers; with these there is a chief beside the workers, which runs `fn`.
        args: The function's positional arguments.
        kwargs: Its keyword arguments.
        quiet: Keep the tasks' output back, and show it only when one fails.
        timeout_seconds: For all of it; None for no limit.

    Returns:
        What the chief's function returned, with History and weights of the model it trained.

    Raises:
        UsageError: a number is wrong, or `fn` cannot be pickled.
        Exception: the one that the function raised in the first task that failed, as itself; its
            traceback there is its cause.
        RuntimeError: a task ended without saying why.
    """
    need("cloudpickle", extra="notebook", purpose="tfdist.notebook.run()")
    if not callable(fn):
        raise UsageError(f"run() was given {type(fn).__name__}, but a function is expected")
    sizes = _sizes(workers, ps)
    told: list[tuple[Task, str, str]] = []
    heard = (lambda *line: told.append(line)) if quiet else _shown_and_kept(told)
    draws = can_be_drawn() and not quiet
    with tempfile.TemporaryDirectory(prefix="tfdist-notebook-") as name, Widget(heard) as widget:
        folder = Path(name)
        parcel.send(folder, fn, args, kwargs or {})
        ended = run_local(
            [sys.executable, "-m", "tfdist.notebook", str(folder), *([ASKED] if draws else [])],
            sizes,
            heard=widget if draws else heard,
            timeout_seconds=timeout_seconds,
        )
        if failure := first_failure(ended):
            if quiet:
                for line in told:
                    show(*line)
            raise_failure(folder, failure, told, timeout_seconds)
        return parcel.receive(folder, Task("chief" if ps else "worker", 0))


def raise_failure(
    folder: Path, failure: Ended, told: Sequence[tuple[Task, str, str]], limit: float | None
) -> None:
    """Raise what the function raised in the task that failed."""
    if error := parcel.error(folder, failure.task):
        raise error
    if failure.was_stopped and limit is not None:
        raise TimeoutError(f"{failure.task} has not ended within {limit:g} s")
    lines = [line for task, _, line in told if task == failure.task][-_LAST_LINES:]
    raise RuntimeError("\n".join([f"{failure.task}: {describe(failure)}", *lines]))


def _shown_and_kept(told: list) -> Callable[[Task, str, str], None]:
    def heard(task: Task, stream: str, line: str) -> None:
        told.append((task, stream, line))
        del told[: -_LAST_LINES * 20]
        show(task, stream, line)

    return heard


def _sizes(workers: int, ps: int) -> dict[str, int]:
    for name, value, least in (("workers", workers, 1), ("ps", ps, 0)):
        if not isinstance(value, int) or value < least:
            raise UsageError(f"{name} is {value!r}, but must be a whole number from {least}")
    if ps:
        return {"chief": 1, "worker": workers, "ps": ps}
    return {"worker": workers} if workers > 1 else {}
