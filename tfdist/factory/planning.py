"""Everything that is decided before TensorFlow is set up: cluster, devices, strategy."""

from __future__ import annotations

from dataclasses import dataclass

from tfdist.cluster import Cluster, resolve
from tfdist.factory.choice import Choice, choose
from tfdist.factory.devices import Devices, Request, parse
from tfdist.factory.hardware import survey


@dataclass(frozen=True)
class Plan:
    """What `tfdist.strategy()` will build, and on what."""

    choice: Choice
    cluster: Cluster
    devices: Devices
    request: Request


def plan(
    name: str = "auto",
    devices: str | None = None,
    *,
    cluster: Cluster | None = None,
    needs_bytes: int | None = None,
) -> Plan:
    """Decide as `tfdist.strategy()` does, and build nothing; the arguments are the same.

    Raises:
        UsageError: cluster, devices and strategy do not fit together.
    """
    cluster = resolve() if cluster is None else cluster
    request = _of_this_task(parse(devices), cluster)
    here = survey(request)
    return Plan(choose(name, cluster, here, needs_bytes), cluster, here, request)


def _of_this_task(request: Request, cluster: Cluster) -> Request:
    """Chief and ps tasks under parameter servers compute nothing, and leave GPUs to workers."""
    computes = cluster.rank is not None or cluster.is_evaluator
    return request if computes or request.kind == "CPU" else Request("CPU")
