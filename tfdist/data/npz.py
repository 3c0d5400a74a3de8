"""What does one .npz file give?"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from tfdist.data import arrays
from tfdist.data.identity import of_files
from tfdist.data.reading import Reading
from tfdist.data.source import Source
from tfdist.errors import UsageError


def load(path: str, reading: Reading) -> Source:
    """Read x_train, y_train, x_test, y_test, or x, y, from an .npz file into memory.

    Raises:
        UsageError: there is no such file, or its arrays do not fit.
    """
    file = Path(path).expanduser()
    name = f"npz:{path}"
    try:
        with np.load(file) as archive:
            # An array is read from the archive each time it is asked for.
            return arrays.source(
                name, archive.files, archive.__getitem__, reading, lambda: of_files([str(file)])
            )
    except (OSError, zipfile.BadZipFile, AttributeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(
            f"{file} cannot be read as an .npz file ({error}): give a file written by "
            "numpy.savez(file, x_train=..., y_train=...), without Python objects"
        ) from error
