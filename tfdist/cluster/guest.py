"""The meeting's side of every task but the chief: it goes there and hears the verdict."""

import socket
import time
from collections.abc import Mapping
from typing import Any

from tfdist.cluster.door import Door
from tfdist.cluster.hello import hello
from tfdist.cluster.messages import Connection
from tfdist.cluster.patience import Patience
from tfdist.cluster.reach import reach, why
from tfdist.cluster.spec import Cluster
from tfdist.errors import EXIT_USAGE, StartAgainError, UsageError

_CONNECT_SECONDS = 4.0  # a host that is not there is told by the kernel after 3 s
_LOOK_AGAIN_SECONDS = 0.1
_LOOK_AT_THE_DOOR_SECONDS = 0.5


def join(
    cluster: Cluster, facts: Mapping[str, Any], listener: socket.socket, patience: Patience
) -> tuple[Connection, bool]:
    """Go to the chief, again and again until it is there, and wait until all have come.

    The chief of a running job that has lost this task calls it instead, at `listener`.

    Returns:
        The connection to the chief, and whether the job had begun before.

    Raises:
        UsageError: when the chief says that two tasks differ.
        StartAgainError: when the chief, or another task, is missing at the end.
    """
    guest = _Guest(cluster, Door(listener), patience)
    own = hello(cluster, facts)
    try:
        while True:
            connection = guest.reach_chief()
            try:
                connection.send(own)
                return guest.await_verdict(connection)
            except OSError as error:  # the chief died, or something else has its port
                connection.close()
                guest.has_been_sent_away = True
                guest.look_again(why(error))
            except BaseException:
                connection.close()
                raise
    finally:
        guest.door.close()


class _Guest:
    """A task on its way, and for whom it waits."""

    def __init__(self, cluster: Cluster, door: Door, patience: Patience) -> None:
        self.door = door
        self._called: Connection | None = None
        self._task = cluster.task
        self._chief = cluster.chief
        self._address = cluster.address(cluster.chief)
        self._patience = patience
        self._waits_for = ""
        self.has_been_sent_away = False

    def reach_chief(self) -> Connection:
        """The chief's call, if it has come, or else a connection to it, once it is there."""
        while True:
            if call := self._called or self.door.call():
                self._called = None
                return call
            (found,) = reach([self._address], _CONNECT_SECONDS)
            if not isinstance(found, str):
                try:
                    return Connection(found)
                except OSError as error:
                    found.close()
                    found = why(error)
            self.look_again(found)

    def look_again(self, reason: str) -> None:
        """Note why the chief is missing, and pause."""
        self._waits_for = f"{self._chief} at {self._address} ({reason})"
        self._heed_the_time()
        time.sleep(min(_LOOK_AGAIN_SECONDS, self._patience.seconds_left))

    def await_verdict(self, connection: Connection) -> tuple[Connection, bool]:
        """Return when all have met, or had before this task came.

        Raises:
            OSError: the chief is gone, or calls.
        """
        if not self.has_been_sent_away:  # that reason says more than the silence of the next try
            self._waits_for = f"{self._chief} at {self._address} (it has not answered)"
        while True:
            if connection.is_readable(min(self._patience.pause_seconds, _LOOK_AT_THE_DOOR_SECONDS)):
                connection.fill()
                while (message := connection.take()) is not None:
                    if self._is_met(message):
                        return connection, message.get("late", False)
            if call := self.door.call():
                self._called = call
                raise ConnectionAbortedError("it calls instead")
            self._heed_the_time()

    def _is_met(self, message: dict[str, Any]) -> bool:
        if "refused" in message:
            refused = UsageError if message["code"] == EXIT_USAGE else StartAgainError
            raise refused(message["refused"])
        self._waits_for = message.get("waiting", self._waits_for)
        return "met" in message

    def _heed_the_time(self) -> None:
        if self._patience.is_over:
            raise StartAgainError(
                f"{self._task} waited {self._patience.wait_seconds:.0f} s in vain for "
                f"{self._waits_for}; start the job again when they can come."
            )
        if self._patience.time_to_say():
            self._patience.say(self._task, self._waits_for)
