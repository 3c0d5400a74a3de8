"""One row of the table of faults: how it is run against real processes, and what is then seen."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.scripts import whole
from tests.launch.network import Network
from tests.processes import Result, Running, start_tasks

_IN_THE_MIDDLE = "epoch 2"
_START_SECONDS = 150
_LOOK_AGAIN_SECONDS = 0.05
_CODES_OF_SURVIVORS = (2, 75)


@dataclass(frozen=True)
class Row:
    """A fault and its consequence.

    Attributes:
        name: Of the fault.
        tasks: How many there are of each kind.
        script: What each of them runs.
        seconds: From the middle of training, or without one from the start, to the last end.
        ends: The exit code of each task; None where it cannot end.
        says: What a line of each that ends with 2 or 75 must match.
        kill, stop, cut: The task that is killed, stopped or cut off in the middle of training;
            without one the script does it.
        needs_disk: Whether it is given a small disk of its own.
    """

    name: str
    tasks: Mapping[str, int]
    script: str
    seconds: float
    ends: Mapping[str, int | None]
    says: str
    kill: str = ""
    stop: str = ""
    cut: str = ""
    needs_disk: bool = False


@dataclass(frozen=True)
class Outcome:
    """How the tasks ended, how long it took, and which of them left a process behind."""

    ended: Sequence[Result]
    seconds: float
    left: Sequence[str]

    def said(self) -> dict[str, str]:
        """What each task wrote that says why it ends: threads of TensorFlow may write behind it."""
        return {
            each.task: each.stderr for each in self.ended if each.returncode in _CODES_OF_SURVIVORS
        }


def run(row: Row, hosts: Network | None = None, disk: Path | None = None) -> Outcome:
    """Start the tasks, let the fault happen, and wait for those that can end."""
    places = zip(hosts.addresses, hosts.inside, strict=True) if hosts else [("127.0.0.1", ())]
    env = {"DISK": str(disk)} if disk else {}
    with start_tasks(whole(row.script), env=env, hosts=list(places), **row.tasks) as running:
        begun = _middle_of_training(running)
        for number, task in enumerate(running):
            if task.task == row.kill:
                task.kill()
            elif task.task == row.stop:
                task.kill(signal.SIGSTOP)
            elif task.task == row.cut and hosts:
                hosts.cut(number)
        can_end = [task for task in running if row.ends[task.task] is not None]
        ended = [task.wait(_START_SECONDS) for task in can_end]
        seconds = time.monotonic() - begun
        return Outcome(ended, seconds, [task.task for task in can_end if _has_processes(task)])


def differences(row: Row, outcome: Outcome) -> list[str]:
    """Return in what an outcome is not that of the row, a sentence for each."""
    found = [f"{task} left a process" for task in outcome.left]
    if outcome.seconds > row.seconds:
        found.append(f"it took {outcome.seconds:.1f} s")
    for each in outcome.ended:
        if each.returncode != row.ends[each.task]:
            found.append(f"{each.task} ended with {each.returncode}: {each.stderr[-3000:]}")
    for task, said in outcome.said().items():
        if not re.search(row.says, said):
            found.append(f"{task} said {said[-3000:]}")
    return found


def _middle_of_training(running: Sequence[Running]) -> float:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if _IN_THE_MIDDLE in running[0].output()[0]:
            return time.monotonic()
        if any(task.process.poll() is not None for task in running):
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    return running[0].started


def _has_processes(task: Running) -> bool:
    try:
        os.killpg(task.process.pid, 0)
    except ProcessLookupError:
        return False
    return True
