"""Is an optional package there? Asked before training, and without importing it."""

from importlib.util import find_spec

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
