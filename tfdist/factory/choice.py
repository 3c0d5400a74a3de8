"""Which strategy, and why not the others? Pure: nothing here imports TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tfdist.cluster import Cluster
from tfdist.errors import UsageError
from tfdist.factory.devices import Devices
from tfdist.factory.obstacles import counted, obstacle

IN_A_CLUSTER = ("multi_worker", "parameter_server")
NAMES = ("auto", "one_device", "mirrored", "multi_worker", "central_storage", "parameter_server")

# Why "auto" left out a strategy that it could have taken.
_LEFT_OUT = {
    "one_device": "only by name: plain Keras on one device, the reference of comparisons",
    "mirrored": "the variables do not fit on each device",
    "multi_worker": "only by name in a cluster of one worker",
    "central_storage": "only by name, or when the variables do not fit on each device",
}


@dataclass(frozen=True)
class Choice:
    """A strategy by name, the reason for it, and why each other one was refused."""

    name: str
    reason: str
    refused: Mapping[str, str]


def choose(name: str, cluster: Cluster, devices: Devices, needs_bytes: int | None = None) -> Choice:
    """Choose the strategy for a process in this cluster with these devices.

    Args:
        name: One of `NAMES`. An evaluator works alone, so there the name of a strategy for
            several tasks counts as "auto".
        cluster: Where the process is.
        devices: What it computes on.
        needs_bytes: Memory of the model's variables and optimizer slots in bytes; None when it is
            not known.

    Raises:
        UsageError: the name is unknown, or the cluster or the devices do not fit the strategy.
    """
    if name not in NAMES:
        raise UsageError(f"strategy {name!r} is unknown: choose one of {', '.join(NAMES)}.")
    if name == "auto" or (cluster.is_evaluator and name in IN_A_CLUSTER):
        chosen, reason = _automatic(cluster, devices, needs_bytes)
        others = _LEFT_OUT
    else:
        chosen, reason = name, "it was asked for by name"
        others = dict.fromkeys(NAMES, f"{name} was asked for")
    _check(name, chosen, obstacle(chosen, cluster, devices))
    refused = {
        other: obstacle(other, cluster, devices) or others[other]
        for other in NAMES
        if other not in ("auto", chosen)
    }
    return Choice(chosen, reason, MappingProxyType(refused))


def explain(choice: Choice) -> str:
    """Show a choice for people: the strategy, the reason, and why the others were refused."""
    alike: dict[str, list[str]] = {}
    for name, why in choice.refused.items():
        alike.setdefault(why, []).append(name)
    lines = [f"  not {' or '.join(names)}: {why}" for why, names in alike.items()]
    return "\n".join([f"strategy: {choice.name}, because {choice.reason}", *lines])


def _check(name: str, chosen: str, in_the_way: str | None) -> None:
    if in_the_way:
        asked = "was chosen" if name == "auto" else "was asked for"
        raise UsageError(f"strategy {chosen!r} {asked}, but {in_the_way}.")


def _automatic(cluster: Cluster, devices: Devices, needs_bytes: int | None) -> tuple[str, str]:
    if cluster.is_evaluator:
        name, reason = _in_one_process(devices, needs_bytes)
        return name, f"an evaluator works alone, and {reason}"
    if cluster.has_ps:
        return "parameter_server", f"{counted(cluster.num_ps, 'ps task')} in the cluster"
    if cluster.num_workers > 1:
        return "multi_worker", f"{counted(cluster.num_workers, 'worker')} in the cluster"
    return _in_one_process(devices, needs_bytes)


def _in_one_process(devices: Devices, needs_bytes: int | None) -> tuple[str, str]:
    here = f"one process has {devices}"
    if needs_bytes is None or needs_bytes <= (devices.bytes_per_device or needs_bytes):
        return "mirrored", here
    sizes = f"{_gigabytes(needs_bytes)} of variables and slots do not fit on each of them"
    if devices.host_bytes is not None and needs_bytes > devices.host_bytes:
        return "mirrored", f"{here}; {sizes}, nor on the host ({_gigabytes(devices.host_bytes)})"
    return "central_storage", f"{here}; {sizes}, and fit on the host"


def _gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1e9:.1f} GB"
