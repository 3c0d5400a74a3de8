"""How is a checkpoint written so that it is whole or not there, and how is that checked?"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from tfdist.checkpoint.places import Place, Remote, remove_folder

MANIFEST = "manifest.json"
_BLOCK_BYTES = 1 << 20


class DamagedError(Exception):
    """A checkpoint is not as it was written; the text says what is wrong with it."""


def write(
    folder: Place,
    name: str,
    files: Mapping[str, Callable[[BinaryIO], Any]],
    manifest: Mapping[str, Any],
) -> None:
    """Write a checkpoint: aside, flushed to disk with its manifest, and renamed at last.

    Where TensorFlow's file systems are used it is there when its manifest is, written at last.

    Args:
        folder: Where checkpoints are; hidden folders in it are unfinished ones.
        name: Of the checkpoint.
        files: What writes each file, by its name.
        manifest: What is known of it; the checksums of the files are added.

    Raises:
        OSError: it could not be written; nothing is left of it.
    """
    aside = folder / (name if isinstance(folder, Remote) else f".{name}.{os.getpid()}")
    remove(aside)
    try:
        aside.mkdir(parents=True)
        sums = {each: _fill(aside / each, fill) for each, fill in files.items()}
        text = _sealed({**manifest, "files": sums})
        _fill(aside / MANIFEST, lambda file: file.write(text.encode()))
        if isinstance(folder, Path) and isinstance(aside, Path):
            flush(aside)
            remove(folder / name)  # damaged, or it would not be written again
            aside.rename(folder / name)
            flush(folder)
    except BaseException:
        remove_folder(aside)
        raise


def read_manifest(path: Place) -> dict[str, Any]:
    """Return what is known of a checkpoint; raise DamagedError when it is not whole."""
    try:
        text = (path / MANIFEST).read_text(encoding="utf-8")
        manifest = json.loads(text)
        whole = _sealed(manifest) == text
    except OSError as error:
        raise DamagedError(f"{MANIFEST}: {error.strerror}") from error
    except (ValueError, AttributeError) as error:
        raise DamagedError(f"{MANIFEST} cannot be read") from error
    if not whole:
        raise DamagedError(f"{MANIFEST} is not as it was written")
    return manifest


def verify(path: Place) -> dict[str, Any]:
    """Return a checkpoint's manifest; raise DamagedError when one of its files is not whole."""
    manifest = read_manifest(path)
    for name, expected in manifest["files"].items():
        try:
            found = _checksum(path / name)
        except OSError as error:
            raise DamagedError(f"{name}: {error.strerror}") from error
        if found != expected:
            raise DamagedError(f"{name} is not as it was written")
    return manifest


def remove(path: Place) -> None:
    """Remove a checkpoint so that it is never seen in part."""
    if isinstance(path, Remote):
        with suppress(OSError):
            (path / MANIFEST).unlink()
        remove_folder(path)
    elif path.exists():
        hidden = path.with_name(f".{path.name}.removed")
        remove_folder(hidden)
        path.rename(hidden)
        remove_folder(hidden)


def flush(folder: Path, deep: bool = False) -> None:
    """Flush a folder to disk; all that is in it too, if `deep`."""
    for path in [*(folder.rglob("*") if deep else ()), folder]:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _fill(path: Place, fill: Callable[[BinaryIO], Any]) -> str:
    with path.open("wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    return _checksum(path)


def _checksum(path: Place) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


def _sealed(manifest: Mapping[str, Any]) -> str:
    """Return the text of a manifest with the checksum of itself, by which a flipped bit shows."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    total = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return json.dumps({**rest, "sha256": total}, indent=1)
