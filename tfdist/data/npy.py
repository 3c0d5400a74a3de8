"""What does a folder of .npy files give?"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tfdist.data import arrays
from tfdist.data.identity import of_files
from tfdist.data.reading import Reading
from tfdist.data.source import Source
from tfdist.errors import UsageError


def load(path: str, reading: Reading) -> Source:
    """Read x_train.npy, y_train.npy, x_test.npy, y_test.npy, or x.npy, y.npy, from a folder.

    x stays in its file until it is needed, so that it may be larger than memory.

    Raises:
        UsageError: there is no such folder, or its arrays do not fit.
    """
    folder = Path(path).expanduser()
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: give one with x_train.npy and y_train.npy")
    files = {each.stem: each for each in sorted(folder.glob("*.npy"))}

    def array(key: str) -> np.ndarray:
        try:
            return np.load(files[key], mmap_mode="r" if key.startswith("x") else None)
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{files[key]} cannot be read as an .npy file ({error}): give one written by "
                "numpy.save, without Python objects"
            ) from error

    return arrays.source(
        f"npy:{path}", files, array, reading, lambda: of_files(map(str, files.values()))
    )
