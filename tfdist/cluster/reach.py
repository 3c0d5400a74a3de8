"""Whether other tasks can be reached, and if not, why."""

import errno
import socket
import threading
import time
from collections.abc import Sequence

from tfdist.cluster.addresses import split_address

REFUSED = "refused, not started"
_NO_ANSWER = "no answer from its host"
_REASONS = {
    errno.ECONNREFUSED: REFUSED,
    errno.EHOSTUNREACH: "no route to its host",
    errno.ENETUNREACH: "no route to its host",
    errno.ETIMEDOUT: _NO_ANSWER,
}


def reach(addresses: Sequence[str], limit_seconds: float) -> list[socket.socket | str]:
    """Connect to all addresses at once: for each the connection, or the reason why there is none.

    Runs in threads, because a name look-up can neither be limited nor interrupted.
    """
    deadline = time.monotonic() + limit_seconds
    found: list[socket.socket | str] = [_NO_ANSWER] * len(addresses)

    def connect(position: int) -> None:
        found[position] = _connect(addresses[position], deadline)

    threads = [
        threading.Thread(target=connect, args=(position,), daemon=True)
        for position in range(len(addresses))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    return list(found)


def _connect(address: str, deadline: float) -> socket.socket | str:
    try:
        connected = socket.create_connection(
            split_address(address), max(0.01, deadline - time.monotonic())
        )
    except OSError as error:
        return why(error)
    if time.monotonic() > deadline:  # the look-up of the name took so long: nobody waits any more
        connected.close()
        return _NO_ANSWER
    if connected.getsockname() == connected.getpeername():
        # A port that nobody listens on can be lent to ourselves, and then leads back here.
        connected.close()
        return REFUSED
    return connected


def why(error: OSError) -> str:
    """The reason behind a failed connection, in words that follow a task's name."""
    if isinstance(error, socket.gaierror):
        return "its name is unknown"
    if isinstance(error, TimeoutError):
        return _NO_ANSWER
    return _REASONS.get(error.errno or 0) or error.strerror or str(error)
