"""Taking this task's own port, and who holds it when it is taken."""

import socket
from typing import Any

from tfdist.cluster.addresses import split_address
from tfdist.cluster.task import Task
from tfdist.errors import StartAgainError, UsageError


def hold_port(task: Task, address: str) -> socket.socket:
    """Listen on the port of `task`, on every address of this machine, until the socket is closed.

    The next one to listen, TensorFlow, can do so as soon as it is closed.

    Raises:
        StartAgainError: when another process has the port; it is named when that can be known.
        UsageError: when the system does not let this user have it.
    """
    port = split_address(address)[1]
    try:
        return _listen(port)
    except PermissionError:
        raise UsageError(
            f"{task} may not use its port {port}: permission denied; choose one above 1023."
        ) from None
    except OSError as error:
        holder = port_holder(port) or f"another process ({error.strerror})"
        raise StartAgainError(
            f"{task} cannot use its port {port}: {holder} has it; end that process or give {task} "
            "another port."
        ) from None


def port_holder(port: int) -> str | None:
    """The process that has the TCP `port` of this machine, in words; None when it stays unknown."""
    import psutil

    try:
        found = [c for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port]
        found.sort(key=lambda connection: connection.status != psutil.CONN_LISTEN)
        pid = next((connection.pid for connection in found if connection.pid), None)
        return _described(psutil.Process(pid)) if pid else None
    except psutil.Error:
        return None


def free_port(preferred: int = 0) -> int:
    """A port that nobody has at the moment: `preferred` if it is free."""
    for port in (preferred, 0):
        try:
            with _listen(port) as listener:
                return listener.getsockname()[1]
        except OSError:
            continue
    return preferred


def _described(process: Any) -> str:
    command = " ".join(process.cmdline()) or process.name()
    return f"process {process.pid} of {process.username()} ({command[:80]})"


def _listen(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))
