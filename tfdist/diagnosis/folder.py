"""Can all tasks write the folder of the checkpoints, and is it one folder for all?"""

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tfdist.cluster import Channel, Cluster
from tfdist.diagnosis.finding import Finding, fail, ok, warn

_CHECK = "checkpoint folder"
_SEEN_SECONDS = 5.0  # what another host writes may take as long to be seen
_LOOK_AGAIN_SECONDS = 0.1
_LITTLE_BYTES = 10**9


def check(folder: Path, cluster: Cluster, channel: Channel | None) -> list[Finding]:
    """Write a file in the folder, and look for those of the other tasks; nothing is left behind.

    Every member of the cluster calls it.

    Raises:
        StartAgainError: a task is lost.
    """
    is_there = _gather(channel, "there", folder.exists())
    token, file = uuid.uuid4().hex, folder / f".tfdist-doctor-{uuid.uuid4().hex[:8]}"
    try:
        error = _write(file, token)
        written = _gather(channel, "written", (str(cluster.task), error is None, file.name, token))
        found = [_not_written(folder, error)] if error else list(_seen(folder, cluster, written))
        _gather(channel, "seen", True)
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    _gather(channel, "removed", True)
    if not all(is_there):
        with contextlib.suppress(OSError):  # another task was faster
            folder.rmdir()
    return found


def _gather(channel: Channel | None, key: str, value: Any) -> list[Any]:
    return channel.gather(key, value) if channel else [value]


def _write(file: Path, token: str) -> str | None:
    """Why it cannot be written; None when it is."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w") as stream:
            stream.write(token)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return None


def _not_written(folder: Path, error: str) -> Finding:
    return fail(
        _CHECK,
        f"nothing can be written in {folder}: {error}",
        "give another folder, or its rights or some space to this user",
    )


def _seen(
    folder: Path, cluster: Cluster, written: Sequence[tuple[str, bool, str, str]]
) -> Iterator[Finding]:
    """Look for what the tasks wrote: of each its name, whether it did, the file and the text."""
    expected = [(task, folder / file, text) for task, did, file, text in written if did]
    missing = [task for task, file, text in expected if not _is_seen(file, text)]
    if missing:
        yield fail(
            _CHECK,
            f"does not see in {folder} what {', '.join(missing)} wrote there",
            "give a folder on a file system that all hosts mount",
        )
        return
    shared = f", and the same for all {len(expected)} tasks" if len(written) > 1 else ""
    free_bytes = shutil.disk_usage(folder).free
    free = f"{free_bytes / 1e9:.1f} GB are free"
    if free_bytes < _LITTLE_BYTES:
        yield warn(_CHECK, f"{folder}: only {free}", "make room, or save less often")
    else:
        yield ok(_CHECK, f"{folder} can be written{shared}; {free}")


def _is_seen(file: Path, token: str) -> bool:
    deadline = time.monotonic() + _SEEN_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if file.read_text() == token:
                return True
        time.sleep(_LOOK_AGAIN_SECONDS)
    return False
