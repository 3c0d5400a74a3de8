"""What a user sees of the tasks' output, and the files in which all of it is kept."""

import contextlib
import shutil
import sys
from collections import deque
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TextIO

from tfdist.cluster import Task
from tfdist.cluster.variables import variable
from tfdist.errors import UsageError

_LAST_LINES = 20
BAR = "\r"  # with which a task begins a line that is a bar
_TO_THE_END = "\x1b[K"  # of ECMA-48: erase
_COLOURS = (36, 33, 32, 35, 34, 31)  # of ECMA-48: cyan, yellow, green, magenta, blue, red


class Screen:
    """Shows each line with its task before it, and keeps it in the task's file.

    Args:
        tasks: All of them.
        shown: Those whose lines are shown.
        folder: Where the files are; made if it is not there.

    Raises:
        UsageError: nothing can be written there.
    """

    def __init__(self, tasks: Sequence[Task], shown: Collection[Task], folder: Path) -> None:
        self._tasks = tasks
        self._shown = shown
        self.files = {task: folder / f"{task.type}-{task.index}.log" for task in tasks}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._open = {task: file.open("w") for task, file in self.files.items()}
        except OSError as error:
            raise UsageError(
                f"--log_dir is {str(folder)!r}, where nothing can be written ({error.strerror}): "
                "give another folder"
            ) from None
        self._last = {task: deque[str](maxlen=_LAST_LINES) for task in tasks}

    def __enter__(self) -> "Screen":
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._open.values():
            with contextlib.suppress(OSError):
                file.close()

    def __call__(self, task: Task, stream: str, line: str) -> None:
        """Show and keep a line of a task's "stdout" or "stderr"; of a bar show it alone."""
        if line.startswith(BAR):
            if task in self._shown:
                draw(f"[{task}] {line[1:]}" if line[1:] else "")
            return
        self._last[task].append(line)
        self._keep(task, line)
        if task in self._shown:
            out = sys.stdout if stream == "stdout" else sys.stderr
            _write(out, f"[{task}]", _COLOURS[self._tasks.index(task) % len(_COLOURS)], line)

    def say(self, sentence: str) -> None:
        """Show a sentence of the launcher's own on standard error."""
        _write(sys.stderr, "[launcher]", 1, sentence)

    def mark(self, sentence: str) -> None:
        """Show it as well as keep it in every file, between what was before and what comes."""
        for task in self._tasks:
            self._keep(task, f"[launcher] {sentence}")
        self.say(sentence)

    def last_lines(self, task: Task) -> list[str]:
        """The last lines of a task since they were last asked for."""
        lines = list(self._last[task])
        self._last[task].clear()
        return lines

    def _keep(self, task: Task, line: str) -> None:
        if task not in self._open:
            return
        try:
            self._open[task].write(line + "\n")
            self._open[task].flush()
        except OSError as error:  # a full disk: no reason to end a training
            with contextlib.suppress(OSError):
                self._open.pop(task).close()
            self.say(f"{self.files[task]} ends here: {error.strerror}")


def draw(bar: str) -> None:
    """Draw a bar in the last line of the terminal, over the one before."""
    if sys.stdout.isatty():
        sys.stdout.write(f"\r{bar[: shutil.get_terminal_size().columns - 1]}{_TO_THE_END}")
        sys.stdout.flush()


def _write(out: TextIO, prefix: str, colour: int, line: str) -> None:
    if out.isatty() and not variable("NO_COLOR"):
        prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
    if out.isatty():
        out.write(f"\r{_TO_THE_END}")  # a bar may be there
    out.write(f"{prefix} {line}\n")
    out.flush()
