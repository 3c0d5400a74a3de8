"""Is what is needed there? Asked before the work, a package without importing it."""

from importlib.util import find_spec
from pathlib import Path

from tfdist.errors import UsageError


def need(package: str, *, extra: str, purpose: str) -> None:
    """Refuse to begin without a package.

    Args:
        package: The name by which it is imported.
        extra: That of tfdist which installs it.
        purpose: What needs it, such as a flag.

    Raises:
        UsageError: it is not installed.
    """
    if find_spec(package) is None:
        raise UsageError(
            f"{purpose} needs {package}, which is not installed: pip install 'tfdist[{extra}]'"
        )


def need_file(flag: str, name: str, *endings: str) -> None:
    """Refuse to begin work whose result could not be written.

    Args:
        flag: That gives the file.
        name: Of the file.
        endings: Those that are known, such as ".png"; none for any.

    Raises:
        UsageError: it has another ending, or its folder is missing or cannot be written to.
    """
    path = Path(name).absolute()
    if endings and path.suffix not in endings:
        raise UsageError(f"{flag} is {name!r}: give a name that ends in {', '.join(endings)}")
    if not path.parent.is_dir():
        raise UsageError(f"{flag} is {name!r}, and there is no such folder: make it first")
    is_new = not path.exists()
    try:
        path.open("a").close()
    except OSError as error:
        raise UsageError(f"{flag} is {name!r} ({error.strerror}): give another file") from error
    if is_new:
        path.unlink()  # what is not finished leaves nothing
