"""Folders and files, here or on any file system that TensorFlow knows, such as gs://bucket/run."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import tensorflow as tf

_COPY_BYTES = 1 << 20


class Remote:
    """A path that `tf.io.gfile` knows, with what is used here of pathlib.Path.

    Such file systems may keep no order between files and rename no folders: who writes several
    files writes last the one that says that all are there. Errors are OSError, as with Path.
    """

    def __init__(self, path: str) -> None:
        self._path = path.rstrip("/")

    def __str__(self) -> str:
        return self._path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(self._path)

    def __truediv__(self, name: str) -> Remote:
        return Remote(f"{self._path}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return self._path.rpartition("/")[2]

    def with_name(self, name: str) -> Remote:
        """Return a neighbour."""
        return Remote(f"{self._path.rpartition('/')[0]}/{name}")

    def exists(self) -> bool:
        """Whether it is there."""
        with _as_os_errors():
            return tf.io.gfile.exists(self._path)

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        with _as_os_errors():
            return tf.io.gfile.isdir(self._path)

    def mkdir(self, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a folder, and those above it."""
        with _as_os_errors():
            tf.io.gfile.makedirs(self._path)

    def iterdir(self) -> Iterator[Remote]:
        """Return what is in a folder."""
        with _as_os_errors():
            names = tf.io.gfile.listdir(self._path)
        return (self / name.rstrip("/") for name in names)

    @contextlib.contextmanager
    def open(self, mode: str) -> Iterator[BinaryIO]:
        """Open a file for reading or writing of bytes; what is written need not be in order."""
        with _as_os_errors():
            if mode == "rb":
                with tf.io.gfile.GFile(self._path, "rb") as file:
                    yield cast(BinaryIO, file)
                return
            with tempfile.TemporaryFile() as here:
                yield cast(BinaryIO, here)
                here.seek(0)
                with tf.io.gfile.GFile(self._path, "wb") as file:
                    shutil.copyfileobj(here, file, _COPY_BYTES)

    def read_bytes(self) -> bytes:
        """Return what is in a file."""
        with self.open("rb") as file:
            return file.read()

    def read_text(self, encoding: str = "utf-8") -> str:
        """Return the text in a file."""
        return self.read_bytes().decode(encoding)

    def write_text(self, text: str) -> None:
        """Write a file."""
        with self.open("wb") as file:
            file.write(text.encode())

    def unlink(self) -> None:
        """Remove a file."""
        with _as_os_errors():
            tf.io.gfile.remove(self._path)

    def rename(self, target: Remote) -> None:
        """Move a file, in place of another, or a folder file by file."""
        with _as_os_errors():
            if self.is_dir():
                copy_folder(self, target)
                tf.io.gfile.rmtree(self._path)
            else:
                tf.io.gfile.rename(self._path, str(target), overwrite=True)


Place: TypeAlias = Path | Remote


def place(directory: str | os.PathLike | Remote) -> Place:
    """Return where a directory is, given as a path of this machine or with its file system."""
    text = str(directory)
    return Remote(text) if "://" in text else Path(os.path.abspath(os.path.expanduser(text)))


def remove_folder(folder: Place) -> None:
    """Remove a folder with all that is in it, as far as it is there."""
    if isinstance(folder, Path):
        shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(OSError), _as_os_errors():
        tf.io.gfile.rmtree(str(folder))


def copy_folder(source: Any, target: Any) -> None:
    """Copy a folder with all that is in it."""
    target.mkdir(parents=True, exist_ok=True)
    for each in source.iterdir():
        if each.is_dir():
            copy_folder(each, target / each.name)
            continue
        with each.open("rb") as read, (target / each.name).open("wb") as written:
            shutil.copyfileobj(read, written, _COPY_BYTES)


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    try:
        yield
    except tf.errors.OpError as error:
        raise OSError(error.error_code, error.message or str(error)) from error
