"""From ranks with addresses to a cluster: who is what."""

from collections.abc import Mapping, Sequence

from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import JOBS, Task
from tfdist.errors import UsageError

TASKS = "TFDIST_TASKS"
_EXAMPLE = "chief=1,worker=2,ps=1"


def lay_out(
    source: str,
    addresses: Sequence[str],
    rank: int,
    env: Mapping[str, str],
    origins: Mapping[str, str],
) -> Cluster:
    """The cluster whose tasks, in rank order, have `addresses`; this process is `rank`.

    All are workers unless TFDIST_TASKS says in which order which job has how many, such as
    "chief=1,worker=2,ps=1".

    Raises:
        UsageError: when TFDIST_TASKS is wrong or describes another number of tasks.
    """
    tasks = named_tasks(env) or [Task("worker", index) for index in range(len(addresses))]
    if len(tasks) != len(addresses):
        raise UsageError(
            f"{TASKS}={env[TASKS]} describes {len(tasks)} tasks and {source} started "
            f"{len(addresses)}; make the two numbers equal."
        )
    jobs: dict[str, dict[int, str]] = {}
    for task, address in zip(tasks, addresses, strict=True):
        jobs.setdefault(task.type, {})[task.index] = address
    named = {"jobs": f"{TASKS}={env[TASKS]}"} if TASKS in env else {}
    return Cluster(jobs, tasks[rank], source, (), {**origins, **named})


def named_tasks(env: Mapping[str, str]) -> list[Task]:
    """The tasks that TFDIST_TASKS describes, in its order; none when it is not set.

    Raises:
        UsageError: when it cannot be read.
    """
    text = env.get(TASKS)
    if text is None:
        return []
    tasks: list[Task] = []
    for part in text.split(","):
        job, _, count = part.strip().partition("=")
        if job not in JOBS or not (count.isascii() and count.isdigit()):
            raise UsageError(
                f"{TASKS} has {part.strip()!r} where a job ({', '.join(JOBS)}) and its number of "
                f"tasks is expected; write it like {_EXAMPLE}."
            )
        first = sum(task.type == job for task in tasks)
        tasks += [Task(job, index) for index in range(first, first + int(count))]
    return tasks


def whole_number(env: Mapping[str, str], name: str, source: str) -> int:
    """The variable `name` as a number of 0 or more.

    Raises:
        UsageError: when it is missing or no such number.
    """
    text = env.get(name, "")
    if text.isascii() and text.isdigit():
        return int(text)
    received = repr(text) if name in env else "missing"
    raise UsageError(
        f"{source}: {name} is {received} and must be a whole number; start the job again, or "
        "describe the cluster in TF_CONFIG."
    )
