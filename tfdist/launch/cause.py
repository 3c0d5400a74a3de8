"""Which rank of a job failed first: mpirun and srun end with a code that does not say.

Each rank that fails leaves its number, its code and where it ran, if it is the first, as a link in
the folder that all share.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from tfdist.cluster import Task
from tfdist.errors import EXIT_DONE
from tfdist.launch.ended import Ended


def shell(rank: str, host: str = "") -> tuple[str, ...]:
    """Return the words that run a rank, to be followed by the link and the rank's own command.

    Args:
        rank: The shell's variable with its number, such as "$PMI_RANK".
        host: That with its host's name, if there is one.
    """
    # The trap lets a rank end in its own time after SIGTERM, which the others get when one failed.
    is_ended = '[ "$asked$code" = yes143 ]'
    leave = f'{is_ended} || ln -s "{rank} $code {host}" "$0" 2>/dev/null'
    return ("sh", "-c", f'trap asked=yes TERM; "$@" || {{ code=$?; {leave}; exit "$code"; }}')


def first_ended(
    starter: Ended, cause: Path, tasks: Sequence[Task], hosts: Sequence[str] = ()
) -> Ended:
    """Return how the rank that failed first ended, or what started it if no rank told.

    Args:
        starter: How mpirun or srun ended.
        cause: The link, which is removed.
        tasks: Which task each rank is.
        hosts: Where each rank runs, if they do not tell.
    """
    told = _read(cause)
    if starter.code == EXIT_DONE or starter.was_stopped:
        return Ended(tasks[0], starter.code, starter.was_stopped)
    if not told:
        return Ended(tasks[0], starter.code, host=starter.host)
    rank, code = int(told[0]), int(told[1])
    host = next(iter([*told[2:], *hosts[rank : rank + 1]]), starter.host)
    return Ended(tasks[rank], 128 - code if code > 128 else code, host=host)


def _read(cause: Path) -> list[str]:
    try:
        return os.readlink(cause).split()
    except OSError:
        return []
    finally:
        cause.unlink(missing_ok=True)
