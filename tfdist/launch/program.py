"""Is a program of a scheduler on this machine?"""

import shutil

from tfdist.errors import UsageError


def check_is_there(program: str) -> None:
    """Refuse a program that is not here.

    Raises:
        UsageError: it is not.
    """
    if shutil.which(program) is None:
        raise UsageError(
            f"{program!r} is not on this machine: submit where it is, or see the job with --dry_run"
        )
