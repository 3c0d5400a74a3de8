"""How the tasks ended, and which of them is the cause."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from tfdist.cluster import Task
from tfdist.errors import EXIT_AGAIN, EXIT_DONE

_SSH_FAILED = 255


@dataclass(frozen=True)
class Ended:
    """How a task ended: its exit code (negative for a signal), and whether it was made to end."""

    task: Task
    code: int
    was_stopped: bool = False
    host: str = "this machine"
    by_ssh: bool = False


def first_failure(ended: Sequence[Ended]) -> Ended | None:
    """Return the task whose failure is the cause of the others'; None when all ended well.

    That is the first which failed by itself. Exit code 75 comes after all others, because a task
    also ends with it when it has lost another one, which may take longer to end.
    """
    by_themselves = [each for each in ended if each.code != EXIT_DONE and not each.was_stopped]
    causes = [each for each in by_themselves if each.code != EXIT_AGAIN]
    stopped = [each for each in ended if each.was_stopped]
    return next(iter([*causes, *by_themselves, *stopped]), None)


def deserters(ended: Sequence[Ended]) -> list[Task]:
    """Return the tasks that ended well though others, which trained with them, had to give up."""
    cause = first_failure(ended)
    if cause is None or cause.code != EXIT_AGAIN:
        return []
    well = [each for each in ended if each.code == EXIT_DONE and not each.was_stopped]
    return [each.task for each in well if each.task.type != "evaluator"]


def may_start_again(cause: Ended) -> bool:
    """Whether another try may go better: after exit code 75, a signal or a lost connection."""
    again = cause.code == EXIT_AGAIN or may_come_back(cause)
    return again and not cause.was_stopped


def may_come_back(ended: Ended) -> bool:
    """Whether it was killed, or lost with its connection: not by its own doing."""
    return ended.code < 0 or _may_be_lost(ended)


def exit_code(cause: Ended | None) -> int:
    """Return the code with which the launcher ends: 128 and the number of a signal, as shells."""
    if cause is None:
        return EXIT_DONE
    return cause.code if cause.code >= 0 else 128 - cause.code


def describe(ended: Ended) -> str:
    """Say how a task ended."""
    if ended.code < 0:
        return f"killed by {_name(-ended.code)}"
    also = ", which is also that of ssh when it loses the connection" if _may_be_lost(ended) else ""
    return f"exit code {ended.code}{also}"


def _may_be_lost(ended: Ended) -> bool:
    return ended.by_ssh and ended.code == _SSH_FAILED


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
