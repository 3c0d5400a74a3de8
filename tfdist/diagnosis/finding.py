"""What one check has found."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        status: "ok", "warn" (a training runs, perhaps not well) or "fail" (none runs).
        check: What was looked at, a word or two.
        said: What was found.
        remedy: What to do, when it is not ok.
    """

    status: str
    check: str
    said: str
    remedy: str = ""


def ok(check: str, said: str) -> Finding:
    """Nothing is wrong."""
    return Finding(OK, check, said)


def warn(check: str, said: str, remedy: str) -> Finding:
    """A training may run, but see to it."""
    return Finding(WARN, check, said, remedy)


def fail(check: str, said: str, remedy: str) -> Finding:
    """No training runs before this is mended."""
    return Finding(FAIL, check, said, remedy)
