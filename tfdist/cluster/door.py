"""Where the chief of a running job calls a task that it misses: the task's own port."""

import socket
from contextlib import suppress

from tfdist.cluster.messages import Connection


class Door:
    """Looks who has come to a port, without waiting.

    Args:
        listener: What listens there.
    """

    def __init__(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._inside: list[Connection] = []

    def call(self) -> Connection | None:
        """The chief's call, once it has come; all others are left standing until they go."""
        with suppress(OSError):  # nobody is there, or no more
            while True:
                self._inside.append(Connection(self._listener.accept()[0]))
        for connection in list(self._inside):
            try:
                called = connection.is_readable(0) and _calls(connection)
            except OSError:
                self._leave(connection)
                continue
            if called:
                self._inside.remove(connection)
                return connection
        return None

    def close(self) -> None:
        """Let all go."""
        for connection in list(self._inside):
            self._leave(connection)

    def _leave(self, connection: Connection) -> None:
        self._inside.remove(connection)
        connection.close()


def _calls(connection: Connection) -> bool:
    connection.fill()
    message = connection.take()
    return message is not None and "calls" in message
