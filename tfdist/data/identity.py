"""Is it still the same data? Text that changes when files or choices do."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable

import numpy as np


def of_files(paths: Iterable[str]) -> str:
    """Return a digest of the names, sizes and times of change of files."""
    total = hashlib.sha256()
    for path in paths:
        status = os.stat(path)
        total.update(f"{os.path.abspath(path)} {status.st_size} {status.st_mtime_ns}\n".encode())
    return total.hexdigest()


def of_numbers(numbers: np.ndarray) -> str:
    """Return a digest of numbers in their order."""
    return hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()
