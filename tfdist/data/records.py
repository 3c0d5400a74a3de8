"""Where does each record of TFRecord files begin, and how is one read alone?

A record is its length (8 bytes), a checksum of that (4), its bytes, and a checksum of them (4):
https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
"""

from __future__ import annotations

import mmap
import os
import struct
import weakref
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from tfdist.errors import UsageError

_HEAD = struct.Struct("<8sI")
_LENGTH = struct.Struct("<Q")
_FOOT_BYTES = 4
_OPEN_FILES = 128
_CASTAGNOLI = 0x82F63B78  # The polynomial of CRC-32C, lowest bit first.
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")  # How gzip and zlib begin.


class Records:
    """The records of several files, numbered through in the order of the files.

    The files must not change. The checksum over the bytes of a record is not looked at.

    Args:
        paths: uncompressed TFRecord files on this machine.

    Raises:
        UsageError: one cannot be read, is no TFRecord file or is cut off.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = list(paths)
        self._starts = [np.fromiter(_starts(path), np.int64) for path in self._paths]
        self._ends = list(accumulate(len(starts) - 1 for starts in self._starts))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def where(self, number: int) -> str:
        """The name of a record, for people."""
        file, index = self._place(number)
        return f"record {index} of {self._paths[file]}"

    def read(self, numbers: np.ndarray) -> np.ndarray:
        """The bytes of these records, as an array of objects."""
        found = np.empty(len(numbers), object)
        found[:] = [self._bytes(int(number)) for number in numbers]
        return found

    def fetch(self, numbers: Any) -> Any:
        """The same in a graph: from a vector of int64 to a vector of strings."""
        import tensorflow as tf

        found = tf.numpy_function(self.read, [numbers], tf.string, stateful=False)
        return tf.ensure_shape(found, [None])

    def _bytes(self, number: int) -> bytes:
        file, index = self._place(number)
        start, stop = self._starts[file][index : index + 2].tolist()
        opened = _opened(self._paths[file])
        size = stop - start - _HEAD.size - _FOOT_BYTES
        return os.pread(opened.descriptor, size, start + _HEAD.size)

    def _place(self, number: int) -> tuple[int, int]:
        file = bisect_right(self._ends, number)
        return file, number - (self._ends[file - 1] if file else 0)


class _Opened:
    """A file that is closed when nobody reads it any more."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self.descriptor)


_opened = lru_cache(_OPEN_FILES)(_Opened)


def _starts(path: str) -> Iterator[int]:
    """Where the records of a file begin, and where the last one ends."""
    size = os.path.getsize(path)
    at = 0
    yield at
    if size == 0:
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        _refuse_other_format(path, content)
        while at < size:
            start = at
            if at + _HEAD.size <= size:
                at += _HEAD.size + _LENGTH.unpack_from(content, at)[0] + _FOOT_BYTES
            if at > size or at == start:
                raise UsageError(
                    f"{path} is cut off or damaged: its record at byte {start} goes beyond its "
                    f"end at byte {size}: copy or write it again"
                )
            yield at


def _refuse_other_format(path: str, content: mmap.mmap) -> None:
    if len(content) >= _HEAD.size:
        length, checksum = _HEAD.unpack_from(content)
        if _masked(_crc32c(length)) == checksum:
            return
    if content[:2] in _COMPRESSED:
        raise UsageError(
            f"{path} is compressed, so that no record can be read alone: decompress it, as with "
            "gunzip"
        )
    raise UsageError(f"{path} is no TFRecord file: correct the pattern after tfrecord:")


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_CASTAGNOLI if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
