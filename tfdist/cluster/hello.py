"""What a task says of itself when it comes to the meeting."""

import json
from collections.abc import Mapping
from typing import Any

from tfdist.cluster.differences import first_difference
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task


def hello(cluster: Cluster, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The first message of a connection."""
    jobs = {job: dict(tasks) for job, tasks in cluster.jobs.items()}
    return {
        "tfdist": {"type": cluster.task.type, "index": cluster.task.index},
        "job": _plain({"cluster": jobs, **facts}),
    }


def caller(message: Any) -> Task | None:
    """The task that says hello with `message`; None when it is no hello of ours."""
    try:
        return Task(str(message["tfdist"]["type"]), int(message["tfdist"]["index"]))
    except (KeyError, TypeError, ValueError):
        return None


def disagreement(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """The first difference between the jobs of two hellos, as a sentence; None when equal."""
    found = first_difference(ours["job"], theirs.get("job"))
    if found is None:
        return None
    path, here, there = found
    return (
        f"{path or 'the job'} is {here} on {caller(ours)} and {there} on {caller(theirs)}; "
        "start every task with the same."
    )


def _plain(value: Any) -> Any:
    # As the other side will read it: tuples become lists, and keys text.
    return json.loads(json.dumps(value))
