"""JSON objects over a TCP connection, each after its length in 4 bytes."""

import json
import selectors
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

_LENGTH = struct.Struct("!I")
_LIMIT_BYTES = 64 * 2**20
_BLOCKED_SECONDS = 30
_FOREIGN = "what answers there is not tfdist"
# A host that lost its power or its cable is noticed after 10 + 3 * 5 s without a sign of life.
_LIVENESS = {
    "TCP_KEEPIDLE": 10,
    "TCP_KEEPINTVL": 5,
    "TCP_KEEPCNT": 3,
    "TCP_USER_TIMEOUT": 25_000,
    "TCP_NODELAY": 1,
}


class Connection:
    """One end of a TCP connection that carries JSON objects in both directions.

    Sending is safe from several threads; reading belongs to one.

    Attributes:
        peer_host: The IP address at the other end.

    Raises:
        OSError: when it is broken already.
    """

    def __init__(self, connected: socket.socket) -> None:
        self.peer_host: str = connected.getpeername()[0].removeprefix("::ffff:")
        self._socket = connected
        self._received = bytearray()
        self._sending = threading.Lock()
        connected.settimeout(_BLOCKED_SECONDS)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _LIVENESS.items():
            if hasattr(socket, name):
                connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one JSON object.

        Raises:
            OSError: when the connection is broken, or the peer has read nothing for 30 s.
        """
        data = json.dumps(message).encode()
        with self._sending:
            self._socket.sendall(_LENGTH.pack(len(data)) + data)

    def is_readable(self, limit_seconds: float) -> bool:
        """Wait until something has arrived or the connection has ended, or until the limit."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            return bool(selector.select(limit_seconds))

    def fill(self) -> None:
        """Read once what has arrived; return without it after 30 s of silence.

        Raises:
            OSError: when the connection has ended.
        """
        try:
            data = self._socket.recv(2**16)
        except TimeoutError as error:
            if error.errno:  # the kernel's verdict, not our own limit
                raise
            return
        if not data:
            raise ConnectionResetError("it closed the connection")
        self._received += data

    def take(self) -> dict[str, Any] | None:
        """The next complete message that has been read; None when there is none.

        Raises:
            OSError: when what was read is no message of ours.
        """
        if len(self._received) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._received)
        end = _LENGTH.size + length
        if length > _LIMIT_BYTES:
            raise ConnectionAbortedError(_FOREIGN)
        if len(self._received) < end:
            return None
        data = bytes(self._received[_LENGTH.size : end])
        del self._received[:end]
        try:
            message = json.loads(data)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            raise ConnectionAbortedError(_FOREIGN)
        return message

    def close(self) -> None:
        """End the connection, also for a thread that is reading."""
        with suppress(OSError):  # it may be broken already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def forget(self) -> None:
        """Close the handle of this process only: the one that it was forked from goes on."""
        self._socket.close()
