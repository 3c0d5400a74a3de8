"""The tasks as the ranks of one MPI job, started by Open MPI's mpirun.

Each rank finds its cluster by itself, from what mpirun says and TFDIST_TASKS.
Options: https://docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html
"""

import os
import re
import shutil
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfdist.cluster import Cluster, Task
from tfdist.cluster.environments.layout import TASKS
from tfdist.cluster.processor import cores
from tfdist.cluster.variables import environment
from tfdist.errors import UsageError
from tfdist.launch import cause
from tfdist.launch.ended import Ended
from tfdist.launch.environment import passed_on, variables
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.screen import Screen
from tfdist.launch.signals import Signals

# Open MPI binds ranks to cores, on several hosts all to the first ones.
_OPTIONS = ("--bind-to", "none", "--oversubscribe", "--tag-output")
_LINE = re.compile(r"\[[^\]]*?(\d+)\]<(stdout|stderr)>: ?(.*)")
_TASK = cause.shell("$OMPI_COMM_WORLD_RANK")
# Open MPI itself sends one way at a time between hosts: 40 MB at 1 Gbit/s take 700 ms, not 340.
BETWEEN_HOSTS = {
    "OMPI_MCA_btl_tcp_links": "2",
    "OMPI_MCA_coll_libnbc_iallreduce_algorithm": "1",  # a ring, both ways at once
}
_OWN_SETTINGS = ("OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_")
_AS_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")


@dataclass(frozen=True)
class Ranks:
    """What is to run under mpirun.

    Attributes:
        command: The program and its arguments, the same for all ranks.
        tasks: Which task each rank is.
        slots: The number of ranks on each host, in their order; empty for this machine.
        ssh: How mpirun reaches other hosts.
        passed_on: Names of variables that ranks on other hosts are given beside the usual.
        grace_seconds: Between SIGTERM and SIGKILL.
    """

    command: Sequence[str]
    tasks: Sequence[Task]
    slots: Mapping[str, int]
    ssh: str = "ssh"
    passed_on: tuple[str, ...] = ()
    grace_seconds: float = 10

    def runner(self, screen: Screen, signals: Signals) -> Callable[[], list[Ended]]:
        """Return what runs all ranks once, showing what they write.

        Raises:
            UsageError: there is no mpirun, or it is not Open MPI's.
        """
        words = self._words(_mpirun())
        return lambda: self._run(words, screen, signals)

    def _run(self, words: Sequence[str], screen: Screen, signals: Signals) -> list[Ended]:
        link = Path.cwd() / f".tfdist-{uuid.uuid4().hex[:8]}"
        group = Group(
            [*words, *_TASK, str(link), *self.command],
            {Task("worker", 0): THIS_MACHINE},
            self.grace_seconds,
            is_cluster=False,
        )

        def heard(mpirun: Task, stream: str, line: str) -> None:
            if found := _LINE.fullmatch(line):
                screen(self.tasks[int(found[1])], found[2], found[3])
            elif line.strip("- "):
                screen.say(f"mpirun: {line}")

        (mpirun,) = run(group, heard, signals, screen.say)
        names = [name for name, size in self.slots.items() for _ in range(size)]
        return [cause.first_ended(mpirun, link, self.tasks, names)]

    def _words(self, mpirun: str) -> list[str]:
        fullest = max(self.slots.values(), default=len(self.tasks))
        sizes = Counter(task.type for task in self.tasks)
        own = {
            **variables(Cluster(), cores() // fullest),
            TASKS: ",".join(f"{job}={size}" for job, size in sizes.items()),
        }
        shared = [word for name in {**own, **passed_on(self.passed_on)} for word in ("-x", name)]
        hosts = ",".join(f"{name}:{size}" for name, size in self.slots.items())
        own |= {"OMPI_MCA_plm_rsh_agent": self.ssh, "PRTE_MCA_plm_ssh_agent": self.ssh}
        own |= BETWEEN_HOSTS if len(self.slots) > 1 else {}
        own |= {k: v for k, v in environment().items() if k.startswith(_OWN_SETTINGS)}
        own |= dict.fromkeys(_AS_ROOT, "1") if os.getuid() == 0 else {}
        return [
            *("env", *(f"{name}={value}" for name, value in own.items())),
            *(mpirun, *_OPTIONS, "-np", str(len(self.tasks)), *shared),
            *(("--host", hosts) if hosts else ()),
        ]


def _mpirun() -> str:
    """That of this Python's environment, else that of the path."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which("mpirun", path=beside) or shutil.which("mpirun")
    if found is None:
        raise UsageError(
            "--transport=mpi needs mpirun, which is not on this machine: pip install "
            "'tfdist[mpi]', or load the module of your cluster's MPI"
        )
    told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30).stdout
    if "Open MPI" not in told:
        raise UsageError(
            f"{found} is not Open MPI's: give that one, or start the command by it as it is, "
            "without the launcher"
        )
    return found
