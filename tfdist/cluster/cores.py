"""Cores of its own for each of the tasks that share a machine.

A thread that wakes on another core than the one it computed on finds an empty cache, and between
virtual cores the waking itself takes long.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tfdist.cluster.channel import Channel
from tfdist.cluster.spec import Cluster
from tfdist.cluster.variables import variable

_SWITCH = "TFDIST_BIND"
_MACHINE = Path("/proc/sys/kernel/random/boot_id")  # random(4)
# https://www.kernel.org/doc/html/latest/admin-guide/cputopology.html
_TOPOLOGY = Path("/sys/devices/system/cpu")


def separate(cluster: Cluster, channel: Channel) -> None:
    """Bind this thread, and those it starts, to a share of the cores that several tasks have.

    Tasks that somebody has bound apart already, as mpirun and Slurm do, stay as they are, and so
    does a job with more tasks on a machine than cores. `TFDIST_BIND=none` in one task leaves it
    out. Every member of the cluster calls it.

    Args:
        cluster: The tasks.
        channel: The line to them.
    """
    told = channel.gather("cores", _here())
    mine = share(told, cluster.members.index(cluster.task))
    if mine:
        os.sched_setaffinity(0, mine)


def share(told: Sequence[list | None], member: int) -> list[int]:
    """Return the cores of a member's own; empty where it is to be left alone.

    Args:
        told: Of each member its machine and that machine's cores it may use, in an order in which
            neighbours are near each other; None where it is not to be bound.
        member: Which of them.
    """
    here = told[member]
    if here is None:
        return []
    neighbours = [i for i, each in enumerate(told) if each == here]
    _, cores = here
    size = len(cores) // len(neighbours)
    first = neighbours.index(member) * size
    return cores[first : first + size] if len(neighbours) > 1 else []


def _here() -> list | None:
    if not hasattr(os, "sched_setaffinity") or variable(_SWITCH) == "none":
        return None
    with suppress(OSError):
        return [_MACHINE.read_text().strip(), sorted(os.sched_getaffinity(0), key=_place)]
    return None


def _place(core: int) -> tuple[int, ...]:
    """Where a core is: those of a package together, and the threads of one core together."""
    folder = _TOPOLOGY / f"cpu{core}" / "topology"
    with suppress(OSError, ValueError):
        names = ("physical_package_id", "core_id")
        return (*(int((folder / name).read_text()) for name in names), core)
    return (0, core, core)
