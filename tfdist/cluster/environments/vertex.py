"""Google Vertex AI: worker pools in CLUSTER_SPEC.

Format: https://cloud.google.com/vertex-ai/docs/training/distributed-training#cluster-variables
"""

import json
from collections.abc import Mapping
from typing import Any

from tfdist.cluster.environments import tf_config
from tfdist.cluster.spec import Cluster
from tfdist.errors import UsageError

NAME = "Vertex AI"
_SPEC = "CLUSTER_SPEC"
_POOLS = {
    "workerpool0": "chief",
    "workerpool1": "worker",
    "workerpool2": "ps",
    "workerpool3": "evaluator",
}


def detect(env: Mapping[str, str]) -> bool:
    """Whether the worker pools have several replicas."""
    if '"workerpool' not in env.get(_SPEC, ""):
        return False
    pools = _read(env)["cluster"].values()
    return sum(len(addresses) for addresses in pools) > 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The rank of this replica among those that train or serve; None for an evaluator."""
    found = cluster(env)
    if found.is_evaluator:
        return None
    return found.members.index(found.task), len(found.members)


def cluster(env: Mapping[str, str]) -> Cluster:
    """The pools in their order: the chief, the workers, the parameter servers, the evaluator.

    Raises:
        UsageError: when it is not a complete, consistent description.
    """
    spec = _read(env)
    jobs = {_POOLS.get(pool, pool): tasks for pool, tasks in spec["cluster"].items()}
    task = {**spec["task"], "type": _POOLS.get(spec["task"].get("type"), spec["task"].get("type"))}
    found = tf_config.parse(json.dumps({"cluster": jobs, "task": task}), NAME)
    origins = {"cluster": f"{_SPEC}, its worker pools", "task": f"{_SPEC}, its task"}
    return Cluster(found.jobs, found.task, NAME, found.notes, origins)


def _read(env: Mapping[str, str]) -> dict[str, Any]:
    try:
        spec = json.loads(env[_SPEC])
    except ValueError:
        spec = None
    parts = [spec.get(key) for key in ("cluster", "task")] if isinstance(spec, dict) else []
    if not (parts and all(isinstance(part, dict) for part in parts)):
        raise UsageError(
            f"{NAME}: {_SPEC} is no JSON object with a cluster and a task; leave it as Vertex AI "
            "sets it, or unset it to use this machine alone."
        )
    return spec
