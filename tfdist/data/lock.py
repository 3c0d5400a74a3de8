"""Who may write now? One process at a time, and the others are told whom they wait for."""

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from absl import logging

from tfdist.errors import StartAgainError

_POLL_SECONDS = 0.2
_REMIND_SECONDS = 60.0


@contextmanager
def held(path: Path, purpose: str, wait_seconds: float) -> Iterator[None]:
    """Hold the lock file `path`, which lies in an existing folder, while the block runs.

    The operating system frees the lock when its holder ends, however it ends. The file stays,
    because removing it would let two processes hold the lock at once.

    Args:
        path: lock file, the same for all who exclude each other.
        purpose: what the lock is for, as in "prepare digits in /data".
        wait_seconds: longest wait for another holder.

    Raises:
        StartAgainError: another process still holds the lock after `wait_seconds`.
        OSError: the file cannot be written.
    """
    with path.open("a+") as file:
        _acquire(file, purpose, wait_seconds)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def _acquire(file: TextIO, purpose: str, wait_seconds: float) -> None:
    start = time.monotonic()
    remind_at = start
    while not _try(file):
        now = time.monotonic()
        if now - start >= wait_seconds:
            raise StartAgainError(
                f"waited {wait_seconds:.0f} s for {_holder(file)} to {purpose}, and it has not "
                "finished: see what it does, then start again"
            )
        if now >= remind_at:
            logging.warning(
                "waiting for %s to %s (%.0f of at most %.0f s)",
                *(_holder(file), purpose, now - start, wait_seconds),
            )
            remind_at = now + _REMIND_SECONDS
        time.sleep(_POLL_SECONDS)


def _try(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(file: TextIO) -> str:
    file.seek(0)
    return file.read() or "another process"
