"""Which hosts answer this task while it is alone: the other tasks have not come."""

from collections.abc import Iterator

from tfdist.cluster import Cluster, Task
from tfdist.cluster.reach import REFUSED, reach
from tfdist.diagnosis.finding import Finding, fail, ok, warn

_REACH_SECONDS = 4.0
_REMEDIES = {
    "its name is unknown": "correct the name, or add it to the name server or /etc/hosts",
    "no route to its host": "start the host, correct its address, or connect its network",
    "no answer from its host": "start the host, or let its firewall pass this port",
}


def check(cluster: Cluster) -> Iterator[Finding]:
    """Try the address of every other task."""
    others = [task for task in cluster.members if task != cluster.task]
    found = reach([cluster.address(task) for task in others], _REACH_SECONDS)
    for task, way in zip(others, found, strict=True):
        yield _judged(f"{task} at {cluster.address(task)}", task, way)


def _judged(who: str, task: Task, way: object) -> Finding:
    if not isinstance(way, str):
        way.close()  # type: ignore[attr-defined]
        return ok("reach", f"{who}: something answers there, and it is not this doctor's cluster")
    if way == REFUSED:
        return warn(
            "reach",
            f"{who}: its host answers, and nothing listens at its port",
            f"start the doctor in {task} as well, at the same time",
        )
    remedy = _REMEDIES.get(way, "look at the network between the two hosts")
    return fail("reach", f"{who}: {way}", remedy)
