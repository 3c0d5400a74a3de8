"""Are Python and the libraries of versions that tfdist supports?"""

import sys
from collections.abc import Iterator
from importlib import metadata
from itertools import takewhile

from tfdist.diagnosis.finding import Finding, fail, ok

# The first version that is supported, and the first one after those that are: as pyproject.toml.
SUPPORTED: dict[str, tuple[str, str | None]] = {
    "python": ("3.10", "3.14"),
    "tensorflow": ("2.19", "2.22"),
    "keras": ("3.12", None),
    "tensorflow-datasets": ("4.9.7", None),
    "numpy": ("1.26", None),
}
_SHOWN = ("python", "tensorflow", "keras")
# TensorFlow also comes under these names.
_ALSO = {"tensorflow": ("tensorflow-cpu", "tensorflow-rocm", "tf-nightly")}


def check() -> Iterator[Finding]:
    """Compare what is installed with what is supported."""
    wrong = [found for name in SUPPORTED for found in _compare(name)]
    yield from wrong
    if not wrong:
        told = ", ".join(f"{name} {installed(name)}" for name in _SHOWN)
        yield ok("versions", f"{told} and the others are among those supported")


def installed(name: str) -> str | None:
    """The version of a library, or of Python; None when it is not there."""
    if name == "python":
        return ".".join(map(str, sys.version_info[:3]))
    for each in (name, *_ALSO.get(name, ())):
        try:
            return metadata.version(each)
        except metadata.PackageNotFoundError:
            continue
    return None


def _compare(name: str) -> Iterator[Finding]:
    first, end = SUPPORTED[name]
    wanted = f"{name}>={first}" + (f",<{end}" if end else "")
    remedy = f"use {wanted}" if name == "python" else f"pip install '{wanted}'"
    found = installed(name)
    if found is None:
        yield fail("versions", f"{name} is not installed", remedy)
    elif _numbers(found) < _numbers(first) or (end and _numbers(found) >= _numbers(end)):
        yield fail("versions", f"{name} {found} is not among those supported", remedy)


def _numbers(version: str) -> list[int]:
    """2.21.0rc1 as [2, 21]."""
    return [int(part) for part in takewhile(str.isdigit, version.split("."))]
