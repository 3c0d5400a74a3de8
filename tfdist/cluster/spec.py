"""Task and Cluster: the place of this process among the others, frozen and checked when made."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from tfdist.cluster.task import JOBS, Task
from tfdist.cluster.validate import validate

Jobs = Mapping[str, Mapping[int, str]]
_ALONE = Task("worker", 0)


@dataclass(frozen=True)
class Cluster:
    """All tasks of a job with their addresses, and which of them this process is.

    Attributes:
        jobs: For each job name its tasks' "host:port" by index; empty on one machine alone.
        task: This process.
        source: Who said so, such as "TF_CONFIG", "Slurm" or "this machine".
        notes: Sentences about what was read in another sense than it was written.
        origins: Where each part ("cluster", "task", ...) came from, for people.

    Raises:
        UsageError: when the parts do not fit together.
    """

    jobs: Jobs = field(default_factory=dict)
    task: Task = _ALONE
    source: str = "this machine"
    notes: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        validate(self.jobs, self.task, self.source)
        object.__setattr__(self, "jobs", _frozen(self.jobs))
        object.__setattr__(self, "origins", MappingProxyType(dict(self.origins)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled, and a cluster travels to other processes.
        jobs = {job: dict(tasks) for job, tasks in self.jobs.items()}
        return Cluster, (jobs, self.task, self.source, self.notes, dict(self.origins))

    @property
    def is_local(self) -> bool:
        """Whether there is no cluster: one process on one machine."""
        return not self.jobs

    @property
    def has_ps(self) -> bool:
        """Whether parameter servers hold the variables."""
        return "ps" in self.jobs

    @property
    def num_ps(self) -> int:
        """The number of parameter servers."""
        return len(self.jobs.get("ps", ()))

    @property
    def workers(self) -> tuple[Task, ...]:
        """The tasks that train, in rank order: the chief, then the workers by index.

        Under parameter servers the chief coordinates and does not train, so it is not among them.
        """
        if self.is_local:
            return (self.task,)
        return self._tasks("worker") if self.has_ps else self._tasks("chief", "worker")

    @property
    def num_workers(self) -> int:
        """The number of tasks that train."""
        return len(self.workers)

    @property
    def members(self) -> tuple[Task, ...]:
        """Every task but the evaluators, in order: chief, workers, parameter servers."""
        return (self.task,) if self.is_local else self._tasks("chief", "worker", "ps")

    @property
    def chief(self) -> Task:
        """The task that logs and saves: the chief, or without one the first worker."""
        return self.members[0]

    @property
    def is_chief(self) -> bool:
        """Whether this task is the one that logs and saves."""
        return self.task == self.chief

    @property
    def is_evaluator(self) -> bool:
        """Whether this task evaluates beside the training and takes no part in it."""
        return self.task.type == "evaluator"

    @property
    def serves_only(self) -> bool:
        """Whether this task waits for the coordinator's orders instead of running the script."""
        return self.task.type == "ps" or (self.task.type == "worker" and self.has_ps)

    @property
    def rank(self) -> int | None:
        """The position of this task among `workers`; None when it does not train."""
        return self.workers.index(self.task) if self.task in self.workers else None

    def address(self, task: Task) -> str:
        """The "host:port" of `task`."""
        return self.jobs[task.type][task.index]

    def tf_config(self) -> str:
        """The cluster as the JSON text of TF_CONFIG; "{}" on one machine alone."""
        if self.is_local:
            return "{}"
        jobs = {job: _as_json(tasks) for job, tasks in self.jobs.items()}
        task = {"type": self.task.type, "index": self.task.index}
        return json.dumps({"cluster": jobs, "task": task})

    def _tasks(self, *jobs: str) -> tuple[Task, ...]:
        return tuple(Task(job, index) for job in jobs for index in self.jobs.get(job, ()))


def _frozen(jobs: Jobs) -> Jobs:
    ordered = {
        job: MappingProxyType(dict(sorted(jobs[job].items()))) for job in JOBS if jobs.get(job)
    }
    return MappingProxyType(ordered)


def _as_json(tasks: Mapping[int, str]) -> list[str] | dict[str, str]:
    if list(tasks) == list(range(len(tasks))):
        return list(tasks.values())
    return {str(index): address for index, address in tasks.items()}
