"""How tfdist tells a user what went wrong, and how a process that ends says why."""

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: a scheduler or launcher should start the job again.


class UsageError(ValueError):
    """A mistake in what the user gave: commands print it as one line and end with exit code 2."""


class StartAgainError(RuntimeError):
    """The job cannot go on but may be started again: commands end with exit code 75."""


class FailedError(RuntimeError):
    """The run failed, and one sentence says all: commands print it and end with exit code 1."""


def code_of(error: BaseException) -> int:
    """The exit code of a process that ends by this error."""
    if isinstance(error, StartAgainError):
        return EXIT_AGAIN
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
