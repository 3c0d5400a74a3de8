"""Is the dataset on the machine? If not, one process prepares it while the others wait."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

from tfdist.data import fetch
from tfdist.data.lock import held
from tfdist.errors import UsageError

_WAIT_SECONDS = 3600.0


def ensure(builder: Any, name: str, wait_seconds: float = _WAIT_SECONDS) -> None:
    """Prepare the dataset of `builder` in its folder, unless it is there.

    Processes that share the folder prepare it once. TensorFlow Datasets writes to a folder aside
    and renames it at the end, so that a crash leaves nothing that looks ready.

    Args:
        builder: a `tfds.core.DatasetBuilder`.
        name: the name by which TensorFlow Datasets finds `builder`.
        wait_seconds: longest wait for another process that prepares it.

    Raises:
        UsageError: the folder cannot be written, or the dataset cannot be fetched.
        StartAgainError: another process has not finished within `wait_seconds`.
    """
    if _is_ready(builder):
        return
    _refuse_half_ready(builder)
    root = _writable_root(builder, name)
    with held(root / f".{builder.name}.lock", f"prepare {name} in {root}", wait_seconds):
        if not _is_ready(builder):
            _prepare(builder, name)
    builder.info.read_from_directory(builder.data_dir)


def _is_ready(builder: Any) -> bool:
    return (builder.data_path / "dataset_info.json").exists()


def _refuse_half_ready(builder: Any) -> None:
    # TensorFlow Datasets takes any folder of this name for a prepared dataset. Another process may
    # finish at this moment, so what is there is looked at once more.
    if builder.data_path.exists() and not _is_ready(builder):
        raise UsageError(
            f"{builder.data_path} holds no complete dataset, as it lacks dataset_info.json: "
            "remove the folder, then start again"
        )


def _writable_root(builder: Any, name: str) -> Path:
    root = Path(str(builder.data_dir_root))
    if "://" in str(builder.data_dir_root):
        raise UsageError(
            f"{builder.data_dir_root} does not hold {name!r}, and it is prepared in local folders "
            "only: prepare it with --data_dir=FOLDER and copy it there"
        )
    try:
        root.mkdir(parents=True, exist_ok=True)
        (root / f".{builder.name}.lock").touch()
    except OSError as error:
        raise UsageError(
            f"{name!r} is not in {root}, which cannot be written ({error.strerror}): give a folder "
            "that holds it or that can be written, with --data_dir=FOLDER"
        ) from error
    return root


def _prepare(builder: Any, name: str) -> None:
    if type(builder).__module__.startswith("tensorflow_datasets."):
        fetch.run(builder, name)
        return
    # A builder of one's own may exist in this process only.
    import tensorflow_datasets as tfds

    tfds.disable_progress_bar()
    with contextlib.redirect_stdout(io.StringIO()):  # Standard output is the run's own.
        builder.download_and_prepare()
