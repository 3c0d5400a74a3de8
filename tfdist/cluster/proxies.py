"""Proxies that gRPC would send the traffic between tasks to, and not to the tasks.

gRPC, which TensorFlow speaks, asks no more than these variables, also for this machine itself:
https://grpc.github.io/grpc/core/md_doc_environment_variables.html
"""

import ipaddress
from collections.abc import Mapping

from tfdist.cluster.addresses import split_address
from tfdist.cluster.spec import Cluster

_PROXIES = ("grpc_proxy", "https_proxy", "http_proxy")  # the first one that is set is used
_EXCEPTIONS = ("no_grpc_proxy", "no_proxy")


def swallowed(cluster: Cluster, env: Mapping[str, str]) -> tuple[str, str] | None:
    """Which proxy takes the traffic to other tasks: what it does and the remedy, or None.

    Both are clauses for a sentence.
    """
    proxy = next((name for name in _PROXIES if env.get(name)), None)
    hosts = [
        split_address(cluster.address(task))[0] for task in cluster.members if task != cluster.task
    ]
    exceptions = next((env[name] for name in _EXCEPTIONS if env.get(name)), "")
    taken = sorted({host for host in hosts if not _is_excepted(host, exceptions)})
    if proxy is None or not taken:
        return None
    listed = ",".join([*filter(None, [exceptions]), *taken])
    return (
        f"{proxy}={env[proxy]} takes TensorFlow's traffic to {', '.join(taken)}, which then waits "
        "for ever",
        f"export no_grpc_proxy={listed}, or unset {proxy}",
    )


def _is_excepted(host: str, exceptions: str) -> bool:
    """As gRPC decides it: by the end of the name, or by a network such as 10.0.0.0/8."""
    return any(
        host.lower().endswith(entry.lower()) or _is_within(host, entry)
        for entry in map(str.strip, exceptions.split(","))
        if entry
    )


def _is_within(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
