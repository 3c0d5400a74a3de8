"""Which tasks there are, and which of them a user means."""

from collections.abc import Mapping, Sequence

from tfdist.cluster import Task
from tfdist.cluster.task import JOBS
from tfdist.errors import UsageError


def tasks_of(sizes: Mapping[str, int]) -> list[Task]:
    """Return the tasks of a cluster with this many of each job."""
    return [Task(job, index) for job, size in sizes.items() for index in range(size)]


def chosen(roles: str | None, tasks: Sequence[Task]) -> list[Task]:
    """Return those of `tasks` that a text such as "chief,worker:1" names; None names all.

    Without a chief the first worker is meant.

    Raises:
        UsageError: a name is none of a task or job.
    """
    names = [name.strip() for name in (roles or "").split(",") if name.strip()]
    found = [task for name in names for task in _named(name, tasks)]
    return [task for task in tasks if task in found or not names]


def _named(name: str, tasks: Sequence[Task]) -> list[Task]:
    job, _, index = name.partition(":")
    if name == "chief" and all(task.type != "chief" for task in tasks):
        return [Task("worker", 0)]
    found = [task for task in tasks if task.type == job and index in ("", str(task.index))]
    if not found:
        present = ", ".join(job for job in JOBS if any(task.type == job for task in tasks))
        raise UsageError(
            f"--role has {name!r}, and the cluster has the jobs {present}: give some of these, or "
            "one task as worker:0"
        )
    return found
