"""What a task's address may look like: host:port."""

import ipaddress
import re

_HOST_NAME = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?")
_LAST_PORT = 65535


def split_address(address: str) -> tuple[str, int]:
    """The host, without brackets, and the port of "host:port" or "[IPv6]:port".

    Raises:
        ValueError: with a clause that says what is wrong and how to write it.
    """
    if "://" in address:
        raise ValueError("has a scheme; write it as host:port without one")
    if "@" in address:
        raise ValueError("has a user; write it as host:port without one")
    host, colon, port = address.rpartition(":")
    if not colon:
        raise ValueError("has no port; write it as host:port")
    return _host(host, port, address), _port(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine can mean itself by `host`."""
    if host.lower() in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def same_place(address: str) -> tuple[str, int]:
    """The address as one spelling, so that two spellings of it compare equal."""
    host, port = split_address(address)
    if host.lower() in ("localhost", "localhost.localdomain"):
        return "127.0.0.1", port
    try:
        return str(ipaddress.ip_address(host)), port
    except ValueError:
        return host.lower().rstrip("."), port


def join_address(host: str, port: int) -> str:
    """ "host:port", with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _host(host: str, port: str, address: str) -> str:
    if host.startswith("[") and host.endswith("]"):
        return _ip_version_6(host[1:-1])
    if ":" in host or "[" in host:
        raise ValueError(f"is IPv6 without brackets; write it as {_bracketed(address, port)}")
    if not host:
        raise ValueError("has no host; write it as host:port")
    if not _HOST_NAME.fullmatch(host):
        raise ValueError("has characters that no host name has; write it as host:port")
    if host == "0.0.0.0":
        raise ValueError("is no address that others can reach; write the host's own name")
    return host


def _ip_version_6(host: str) -> str:
    try:
        unspecified = ipaddress.IPv6Address(host).is_unspecified
    except ValueError:
        raise ValueError("has no IPv6 address in its brackets; write it as [IPv6]:port") from None
    if unspecified:
        raise ValueError("is no address that others can reach; write the host's own name")
    return host


def _bracketed(address: str, port: str) -> str:
    try:
        ipaddress.IPv6Address(address)
    except ValueError:
        return f"[{address.rpartition(':')[0].strip('[]')}]:{port}"
    return f"[{address}]:port or [{address.rpartition(':')[0]}]:{port}"


def _port(port: str) -> int:
    if not port:
        raise ValueError("has no port; write it as host:port")
    if not (port.isascii() and port.isdigit()):
        raise ValueError(f"has the port {port!r}; a port is a number from 1 to {_LAST_PORT}")
    if not 1 <= int(port) <= _LAST_PORT:
        raise ValueError(f"has the port {port}; a port is a number from 1 to {_LAST_PORT}")
    return int(port)
