"""How is a checkpoint written so that it is whole or not there, and how is that checked?"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

MANIFEST = "manifest.json"
_BLOCK_BYTES = 1 << 20


class DamagedError(Exception):
    """A checkpoint is not as it was written; the text says what is wrong with it."""


def write(
    folder: Path,
    name: str,
    files: Mapping[str, Callable[[BinaryIO], Any]],
    manifest: Mapping[str, Any],
) -> None:
    """Write a checkpoint: aside, flushed to disk with its manifest, and renamed at last.

    Args:
        folder: Where checkpoints are; hidden folders in it are unfinished ones.
        name: Of the checkpoint.
        files: What writes each file, by its name.
        manifest: What is known of it; the checksums of the files are added.

    Raises:
        OSError: it could not be written; nothing is left of it.
    """
    aside = folder / f".{name}.{os.getpid()}"
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        sums = {each: _fill(aside / each, fill) for each, fill in files.items()}
        text = _sealed({**manifest, "files": sums})
        _fill(aside / MANIFEST, lambda file: file.write(text.encode()))
        _flush(aside)
        remove(folder / name)  # damaged, or it would not be written again
        aside.rename(folder / name)
        _flush(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_manifest(path: Path) -> dict[str, Any]:
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


def verify(path: Path) -> dict[str, Any]:
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


def remove(path: Path) -> None:
    """Remove a checkpoint so that it is never seen in part."""
    if path.exists():
        hidden = path.with_name(f".{path.name}.removed")
        shutil.rmtree(hidden, ignore_errors=True)
        path.rename(hidden)
        shutil.rmtree(hidden, ignore_errors=True)


def _fill(path: Path, fill: Callable[[BinaryIO], Any]) -> str:
    with open(path, "wb") as file:
        fill(file)
        file.flush()
        os.fsync(file.fileno())
    return _checksum(path)


def _checksum(path: Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


def _sealed(manifest: Mapping[str, Any]) -> str:
    """Return the text of a manifest with the checksum of itself, by which a flipped bit shows."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    total = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    return json.dumps({**rest, "sha256": total}, indent=1)


def _flush(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
