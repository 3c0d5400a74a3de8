"""Does this task reach all others, fast enough and at the same time of day?"""

from collections.abc import Iterator, Sequence

from tfdist.cluster import Cluster
from tfdist.cluster.addresses import split_address
from tfdist.diagnosis.finding import Finding, fail, ok, warn
from tfdist.diagnosis.wires import Wire

_CLOCK_SECONDS = 1.0
_SLOW_BYTES = 1e8  # a second: a little less than a network of 1 Gbit/s carries


def check(wires: Sequence[Wire], cluster: Cluster) -> Iterator[Finding]:
    """Judge the ways from this task to the others."""
    for wire in wires:
        if wire.problem:
            yield fail(
                "network",
                f"does not reach {wire.end}: {wire.problem}",
                "let firewalls pass the ports of the cluster, in both directions",
            )
        elif (ahead := wire.clock_seconds or 0) > _CLOCK_SECONDS:
            yield warn(
                "clocks",
                f"that of {wire.end} is {ahead:.1f} s ahead",
                "set both by NTP: the times in logs and of checkpoints cannot be compared",
            )
        if slow := _slow(wire, cluster):
            yield warn(
                "network",
                f"100 MB of gradients take {1e8 / slow:.1f} s to {wire.end}",
                "use a faster network, or larger global batches with fewer steps",
            )
    if not any(wire.problem for wire in wires):
        yield ok("network", "reaches every other task at its address in the cluster")


def _slow(wire: Wire, cluster: Cluster) -> float | None:
    """The bytes per second of a way to another host, if they are few."""
    hosts = {
        split_address(cluster.address(task))[0]
        for task in cluster.members
        if str(task) in (wire.start, wire.end)
    }
    speed = wire.bytes_per_second
    return speed if speed and speed < _SLOW_BYTES and len(hosts) > 1 else None
