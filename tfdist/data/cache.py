"""Must examples be decoded again in each pass? Not when they are kept as they were read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from tfdist.data.copies import Allocate, Copies
from tfdist.data.lock import held
from tfdist.data.reader import Reader
from tfdist.data.source import Source, refuse_declared
from tfdist.data.tables import Tables
from tfdist.errors import UsageError

_SMALL_BYTES = 2**28  # What "auto" keeps in memory.
_WAIT_SECONDS = 600.0


def cached(reader: Reader, where: str) -> Reader:
    """Return a reader of the same examples that reads each one once, and then from its copy.

    A copy is made when an example is read first, of the example as it is stored: of images, a byte
    for each value. When one is left out, those that were read with it are not copied.

    Args:
        reader: what is copied.
        where: "none"; "memory"; "auto", memory when all take less than 256 MiB; or a folder on a
            local disk, where other tasks and later runs find the copies as long as the data stays.

    Raises:
        UsageError: the examples differ in shape, or there is no room for them.
    """
    if where == "none" or reader.needs_no_copy or reader.examples == 0:
        return reader
    specs = _specs(reader)
    if specs is None:
        if where == "auto":
            return reader
        raise UsageError(
            f"--cache is {where}, but the examples differ in shape, so that their place is not "
            "known: give --cache=none"
        )
    total_bytes = reader.examples * sum(_bytes(spec) for spec in specs)
    if where == "auto" and total_bytes > _SMALL_BYTES:
        return reader
    _refuse_too_large(total_bytes, where)
    copies = (
        Tables(reader, specs)
        if where in ("auto", "memory")
        else Copies(reader, specs, _in_folder(where, reader, specs))
    )
    return replace(reader, read=copies.read, original=reader)


def cached_stream(source: Source, where: str) -> Source:
    """Return the same source, its examples kept in memory once they were read, if asked for.

    Raises:
        UsageError: a folder was given, in which the place of an example would not be known.
    """
    if where in ("none", "auto"):
        return source
    refuse_declared(source, "--cache cannot keep: leave it out, and use cache() in the function")
    if where != "memory":
        raise UsageError(
            f"--cache is {where}, but {source.name!r} gives its examples one after the other, and "
            "they have no places in a folder: give --cache=memory or --cache=none"
        )
    validation = source.validation.cache() if source.validation is not None else None
    return replace(source, train=source.train.cache(), validation=validation)


def _specs(reader: Reader) -> list[Any] | None:
    """The specs of the parts of an example; None when they have no fixed place."""
    import tensorflow as tf

    specs = tf.nest.flatten(reader.stored_spec)
    if not all(isinstance(spec, tf.TensorSpec) for spec in specs):
        return None
    examples = [tf.TensorSpec(spec.shape[1:], spec.dtype) for spec in specs]
    fixed = all(each.shape.is_fully_defined() and each.dtype != tf.string for each in examples)
    return examples if fixed else None


def _bytes(spec: Any) -> int:
    return spec.shape.num_elements() * spec.dtype.size


def _refuse_too_large(total_bytes: int, where: str) -> None:
    if where == "memory" and total_bytes > psutil.virtual_memory().available:
        raise UsageError(
            f"--cache=memory takes {total_bytes / 2**30:.1f} GiB, and "
            f"{psutil.virtual_memory().available / 2**30:.1f} GiB are free: give a folder on a "
            "local disk, --cache=FOLDER, or --cache=none"
        )


def _in_folder(where: str, reader: Reader, specs: Sequence[Any]) -> Allocate:
    """Allocate in files, in a folder that is named after what the examples depend on."""
    identity = f"{reader.identity()} {reader.examples} {specs}"
    folder = Path(where).expanduser() / hashlib.sha256(identity.encode()).hexdigest()[:32]

    def allocate(name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        file, size = folder / name, int(np.prod(shape)) * np.dtype(dtype).itemsize
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with held(folder / ".lock", f"make room in {folder}", _WAIT_SECONDS):
                if not file.exists() or file.stat().st_size < size:
                    _make_room(file, size)
            return np.memmap(file, dtype, "r+", shape=shape)
        except OSError as error:
            raise UsageError(
                f"--cache is {where}, where {size / 2**30:.1f} GiB could not be taken "
                f"({error.strerror}): give a folder on a disk with more room, or --cache=none"
            ) from error

    return allocate


def _make_room(file: Path, size_bytes: int) -> None:
    # Without blocks of its own, a file that is written through memory ends the process when the
    # disk is full.
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT)
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    finally:
        os.close(descriptor)
