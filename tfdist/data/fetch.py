"""Can it be fetched? A process of its own downloads a dataset, and is ended when no data comes.

TensorFlow Datasets retries for minutes, in threads that nobody can end, and waits for a silent
server without limit. A process of its own can be ended.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tfdist.errors import UsageError

_SILENCE_SECONDS = 10.0
_POLL_SECONDS = 0.5
_RETRIES = 3  # With waits of 0, 0.4 and 0.8 seconds.
_CODE = "import sys; sys.path[:] = {}; from tfdist.data import fetch; sys.exit(fetch.main())"


def run(builder: Any, name: str, silence_seconds: float = _SILENCE_SECONDS) -> None:
    """Download and prepare a dataset of TensorFlow Datasets.

    Args:
        builder: its `tfds.core.DatasetBuilder`.
        name: the name by which TensorFlow Datasets finds `builder`.
        silence_seconds: longest time in which the downloads may bring no data.

    Raises:
        UsageError: no data came, or the preparation failed; nothing half-ready is left.
    """
    before = _unfinished(builder)
    child = _start(name, str(builder.data_dir_root))
    reason = f"no data came for {silence_seconds:.0f} s"
    try:
        if not _is_silent(child, builder, before, silence_seconds):
            reason = child.communicate()[0]
    finally:
        child.kill()
        child.wait()
        for path in _unfinished(builder) - before:
            shutil.rmtree(path, ignore_errors=True)
    if child.returncode:
        raise UsageError(
            f"{name!r} is not in {builder.data_dir_root} and could not be fetched "
            f"({reason or f'its process ended with code {child.returncode}'}): check the network, "
            "or give the folder of a prepared dataset with --data_dir=FOLDER"
        )


def _start(name: str, data_dir: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _CODE.format(sys.path), name, data_dir],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _is_silent(
    child: subprocess.Popen[str], builder: Any, before: set[Path], silence_seconds: float
) -> bool:
    """Wait until `child` has ended (False), or until its downloads stand still (True)."""
    size, since = -1, time.monotonic()
    while child.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_POLL_SECONDS)
        downloads = {path for path in _unfinished(builder) - before if ".tmp." in path.name}
        now = sum(_bytes(path) for path in downloads)
        if now != size or not downloads:
            size, since = now, time.monotonic()
        elif time.monotonic() - since > silence_seconds:
            return True
    return False


def _unfinished(builder: Any) -> set[Path]:
    """Folders in which TensorFlow Datasets keeps what it has not finished."""
    root = Path(builder.data_dir_root)
    downloads = root / "downloads"
    return {
        *(downloads / builder.name).glob("**/*.tmp.*"),
        *(downloads / "extracted").glob("incomplete.*"),
        *(root / builder.name).glob("**/incomplete.*"),
    }


def _bytes(folder: Path) -> int:
    with contextlib.suppress(OSError):  # A finished download is moved away while we look.
        return sum(path.stat().st_size for path in folder.iterdir())
    return 0


def main() -> int:
    """Prepare what the command line names; when it fails, print why in one line and return 1."""
    name, data_dir = sys.argv[1:]
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _be_quiet()
    import tensorflow_datasets as tfds
    from tensorflow_datasets.core.download import downloader

    downloader.MAX_RETRIES = _RETRIES
    if not sys.stderr.isatty():
        tfds.disable_progress_bar()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            tfds.builder(name, data_dir=data_dir).download_and_prepare()
    except Exception as error:  # Builders are other people's code: each fails in its own way.
        print(_reason(error), end="")  # noqa: T201  the answer to the process that started this
        return 1
    return 0


def _end_with_parent() -> None:
    sys.stdin.read()  # Returns when the process at the other end is gone.
    os._exit(1)


def _be_quiet() -> None:
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    os.putenv("TF_CPP_MIN_LOG_LEVEL", "2")
    os.putenv("CUDA_VISIBLE_DEVICES", "-1")  # The GPUs belong to the process that trains.


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.ConnectionError) and error.request is not None:
        return f"no connection to {urlsplit(str(error.request.url)).hostname}"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
