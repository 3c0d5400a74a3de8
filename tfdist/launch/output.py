"""What the tasks write, line by line as it comes."""

import contextlib
import os
import selectors
from collections.abc import Callable
from dataclasses import dataclass

from tfdist.cluster import Task
from tfdist.launch.process import Process

_CHUNK_BYTES = 65_536  # as much as a pipe holds, so that one read empties it
_WAIT_SECONDS = 0.1


@dataclass
class _Stream:
    task: Task
    name: str
    begun_line: bytes = b""

    def lines(self, chunk: bytes) -> list[str]:
        """The lines that this chunk completes; an empty chunk, the end, completes the last one."""
        *lines, self.begun_line = (self.begun_line + chunk).split(b"\n")
        if not chunk and self.begun_line:
            lines, self.begun_line = [*lines, self.begun_line], b""
        return [line.decode(errors="replace") for line in lines]


class Listener:
    """Reads the output of many processes in this one thread.

    Args:
        heard: Called with the task, "stdout" or "stderr", and each line.
    """

    def __init__(self, heard: Callable[[Task, str, str], None]) -> None:
        self._heard = heard
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *error: object) -> None:
        self._selector.close()

    def add(self, process: Process) -> None:
        """Listen to a process from now on."""
        for name, pipe in process.pipes.items():
            self._selector.register(pipe, selectors.EVENT_READ, _Stream(process.task, name))

    def remove(self, process: Process) -> None:
        """Listen to it no more."""
        for pipe in process.pipes.values():
            with contextlib.suppress(KeyError):  # it has ended
                self._selector.unregister(pipe)

    def listen(self, wait: bool = True) -> None:
        """Read what is there; wait a moment for it when nothing is."""
        for key, _ in self._selector.select(_WAIT_SECONDS if wait else 0):
            self._read(key.fd, key.data)

    def _read(self, pipe: int, stream: _Stream) -> None:
        chunk = os.read(pipe, _CHUNK_BYTES)
        if not chunk:
            self._selector.unregister(pipe)
        for line in stream.lines(chunk):
            self._heard(stream.task, stream.name, line)
