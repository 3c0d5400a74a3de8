"""Whether jobs, addresses and this task fit together, whoever named them."""

from collections.abc import Iterator, Mapping

from tfdist.cluster.addresses import is_loopback, same_place, split_address
from tfdist.cluster.task import JOBS, Task
from tfdist.errors import UsageError

Jobs = Mapping[str, Mapping[int, str]]


def validate(jobs: Jobs, task: Task, source: str) -> None:
    """Check a cluster as a whole.

    Raises:
        UsageError: one sentence that begins with `source` and names the part and the remedy.
    """
    try:
        _check_jobs(jobs)
        _check_addresses(jobs)
        _check_task(jobs, task)
    except ValueError as error:
        raise UsageError(f"{source}: {error}.") from None


def _check_jobs(jobs: Jobs) -> None:
    for job, tasks in jobs.items():
        if job not in JOBS:
            raise ValueError(f"the cluster has a job {job!r}; the jobs are {', '.join(JOBS)}")
        if min(tasks, default=0) < 0:
            raise ValueError(f"{job} has the index {min(tasks)}; an index is 0 or more")
    if len(jobs.get("chief", ())) > 1:
        raise ValueError("the cluster has two chiefs; keep one and make the others workers")
    if not jobs:
        return
    if jobs.get("ps"):
        _check_ps(jobs)
    elif not (jobs.get("chief") or jobs.get("worker")):
        raise ValueError('the cluster has no task that trains; add a "worker" list')


def _check_ps(jobs: Jobs) -> None:
    if not jobs.get("worker"):
        raise ValueError('the cluster has ps but no worker to train; add a "worker" list')
    if not jobs.get("chief"):
        raise ValueError(
            'the cluster has ps but no chief to coordinate; add a "chief" list of one address'
        )


def _check_addresses(jobs: Jobs) -> None:
    seen: dict[tuple[str, int], Task] = {}
    for task, address in _tasks(jobs):
        try:
            split_address(address)
        except ValueError as error:
            raise ValueError(f"the address {address!r} of {task} {error}") from None
        other = seen.setdefault(same_place(address), task)
        if other != task:
            raise ValueError(
                f"{other} and {task} have the same address {address}; give each its own host:port"
            )
    _check_loopback(jobs)


def _check_loopback(jobs: Jobs) -> None:
    loopback = [pair for pair in _tasks(jobs) if is_loopback(split_address(pair[1])[0])]
    others = [pair for pair in _tasks(jobs) if pair not in loopback]
    if loopback and others:
        task, address = loopback[0]
        other, other_address = others[0]
        raise ValueError(
            f"the address {address} of {task} means another machine on each host, and {other} is "
            f"at {other_address}; write the name by which the other hosts reach {task}"
        )


def _check_task(jobs: Jobs, task: Task) -> None:
    if not jobs:
        return
    if task.type == "evaluator" and not jobs.get("evaluator"):
        if task.index < 0:
            raise ValueError(f"the task's index is {task.index}; an index is 0 or more")
        return
    if not jobs.get(task.type):
        present = ", ".join(job for job in JOBS if jobs.get(job))
        raise ValueError(
            f"the task's type is {task.type!r} and the cluster has {present}; name one of these"
        )
    indices = jobs[task.type]
    if task.index not in indices:
        expected = ", ".join(map(str, sorted(indices)))
        raise ValueError(
            f"the task's index is {task.index} and the cluster's {task.type} indices are "
            f"{expected}; use one of these, or add the missing {task.type}"
        )


def _tasks(jobs: Jobs) -> Iterator[tuple[Task, str]]:
    for job, tasks in jobs.items():
        for index, address in tasks.items():
            yield Task(job, index), address
