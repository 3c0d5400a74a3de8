"""Why a strategy cannot run in this cluster on these devices, in words. Pure."""

from __future__ import annotations

from tfdist.cluster import Cluster
from tfdist.factory.devices import Devices

_ALONE = "an evaluator works alone"


def obstacle(name: str, cluster: Cluster, devices: Devices) -> str | None:
    """A clause that says what stands in the way and what to do instead; None when nothing does."""
    if name == "multi_worker":
        return _to_multi_worker(cluster) or _to_split_cpu(devices)
    if name == "parameter_server":
        return _to_parameter_server(cluster) or _to_split_cpu(devices)
    return _to_one_process(cluster)


def _to_one_process(cluster: Cluster) -> str | None:
    if cluster.is_evaluator or (cluster.num_workers == 1 and not cluster.has_ps):
        return None
    fitting = "parameter_server" if cluster.has_ps else "multi_worker"
    return (
        f"it runs in one process and {cluster.source} describes a cluster of "
        f"{_tasks(cluster)}: use {fitting}, or start one process without the cluster"
    )


def _to_multi_worker(cluster: Cluster) -> str | None:
    if cluster.is_evaluator:
        return _ALONE
    if cluster.is_local:
        return "it needs a cluster and there is none: set TF_CONFIG or use python -m tfdist.launch"
    if cluster.has_ps:
        return (
            f"{cluster.source} has {counted(cluster.num_ps, 'ps task')}, for which its workers "
            "would wait for ever: use parameter_server, or take ps out of the cluster"
        )
    return None


def _to_parameter_server(cluster: Cluster) -> str | None:
    if cluster.is_evaluator:
        return _ALONE
    if cluster.is_local:
        return (
            "it needs a chief, workers and ps tasks, each a process of its own, and there is no "
            "cluster: start them with TF_CONFIG or python -m tfdist.launch"
        )
    if not cluster.has_ps:
        return f"{cluster.source} has no ps task: add one to the cluster, or use multi_worker"
    return None


def _to_split_cpu(devices: Devices) -> str | None:
    if devices.kind == "CPU" and devices.count > 1:
        return (
            f"each of its workers computes on one CPU device and cpu:{devices.count} splits the "
            "CPU: leave devices out, and start more workers for more replicas"
        )
    return None


def counted(count: int, noun: str) -> str:
    """The number with its noun: "1 worker", "2 workers"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _tasks(cluster: Cluster) -> str:
    workers = counted(cluster.num_workers, "worker")
    return f"{workers} and {counted(cluster.num_ps, 'ps task')}" if cluster.has_ps else workers
