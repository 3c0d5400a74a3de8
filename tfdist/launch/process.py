"""One task as a process that cannot outlive its launcher."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from tfdist.cluster import Task

_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Process:
    """A task that runs, with all that it starts.

    Args:
        task: Which one.
        command: The program and its arguments.
        env: All variables of its environment.
    """

    def __init__(self, task: Task, command: Sequence[str], env: Mapping[str, str]) -> None:
        self.task = task
        self._child: subprocess.Popen[bytes] = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a group of its own, to be ended as a whole
            preexec_fn=_die_with_launcher,
        )
        pipes = {"stdout": self._child.stdout, "stderr": self._child.stderr}
        self.pipes = {name: pipe.fileno() for name, pipe in pipes.items() if pipe is not None}

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._child.poll()

    def ask_to_end(self) -> None:
        """Send SIGTERM, which TensorFlow may be deaf to."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, if it still runs, and wait until it has ended."""
        self._signal(signal.SIGKILL)
        self._child.wait()

    def close(self) -> None:
        """Close its output."""
        for pipe in (self._child.stdout, self._child.stderr):
            if pipe is not None:
                pipe.close()

    def _signal(self, number: int) -> None:
        if self.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._child.pid, number)


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind this process as SIGINT does, so that it ends its tasks."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Only the main thread may change what signals do.
        return
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _die_with_launcher() -> None:
    # For a launcher that is killed and can end nobody. Linux has it, other systems do not.
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
