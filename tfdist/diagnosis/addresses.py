"""Do the names of the tasks' hosts lead anywhere, and does this task's lead here?"""

import ipaddress
import socket
from collections.abc import Iterator

from tfdist.cluster import Cluster
from tfdist.cluster.addresses import split_address
from tfdist.diagnosis.finding import Finding, fail, ok, warn

_CHECK = "names"


def check(cluster: Cluster) -> Iterator[Finding]:
    """Look up the host of every task."""
    hosts = {task: split_address(cluster.address(task))[0] for task in cluster.members}
    found = {host: _look_up(host) for host in dict.fromkeys(hosts.values())}
    for host, addresses in found.items():
        if isinstance(addresses, str):
            named = ", ".join(str(task) for task, own in hosts.items() if own == host)
            yield fail(
                _CHECK,
                f"the host {host} of {named} is not known here: {addresses}",
                f"write its IP address, or add {host} to the name server or /etc/hosts",
            )
    if not any(isinstance(addresses, str) for addresses in found.values()):
        yield ok(_CHECK, f"known: {', '.join(found)}")
    yield from _own(cluster, found.get(hosts.get(cluster.task, ""), ""))


def _own(cluster: Cluster, addresses: list[str] | str) -> Iterator[Finding]:
    own = _own_addresses()
    if isinstance(addresses, str) or any(map(_is_loopback, addresses)) or own & set(addresses):
        return
    yield warn(
        _CHECK,
        f"the address of {cluster.task}, {cluster.address(cluster.task)}, is none of this host "
        f"({', '.join(sorted(filter(lambda each: not _is_loopback(each), own)))})",
        "run this on the task's own host, or correct its address, unless traffic to it is "
        "forwarded here",
    )


def _look_up(host: str) -> list[str] | str:
    """Its IP addresses, or why there are none."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return error.strerror or str(error)
    return [str(address[4][0]) for address in found]


def _own_addresses() -> set[str]:
    import psutil

    families = (socket.AF_INET, socket.AF_INET6)
    return {
        address.address.partition("%")[0]
        for each in psutil.net_if_addrs().values()
        for address in each
        if address.family in families
    }


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
