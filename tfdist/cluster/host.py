"""The chief's side of the meeting: it receives the others and gives the verdict to all."""

import selectors
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from tfdist.cluster.hello import caller, disagreement, hello
from tfdist.cluster.messages import Connection
from tfdist.cluster.patience import Patience
from tfdist.cluster.reach import reach
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.errors import EXIT_AGAIN, EXIT_USAGE, StartAgainError, UsageError

_PROBE_SECONDS = 4.0  # a host that is not there is told by the kernel after 3 s
_LOOK_AGAIN_SECONDS = 1.0
# When two tasks differ, those that are not there yet get this long to come and hear it.
_LATECOMERS_SECONDS = 10.0


def receive_all(
    cluster: Cluster, facts: Mapping[str, Any], listener: socket.socket, patience: Patience
) -> dict[Task, Connection]:
    """Wait on `listener` for all other members of `cluster`, and answer them.

    Raises:
        UsageError: when a task differs from the chief, after every task has been told.
        StartAgainError: when a task is missing at the end, after the others have been told.
    """
    host = _Host(cluster, facts, listener, patience)
    try:
        while not (host.all_have_come() and host.can_go_on()):
            if patience.is_over:
                host.give_up()
            if patience.time_to_say():
                host.say_who_is_missing()
            host.receive(min(patience.pause_seconds, _LOOK_AGAIN_SECONDS))
        return host.open_the_job()
    except BaseException:
        host.close()
        raise


class _Host:
    """Who has come so far, and whether somebody differs."""

    def __init__(
        self,
        cluster: Cluster,
        facts: Mapping[str, Any],
        listener: socket.socket,
        patience: Patience,
    ) -> None:
        self.guests: dict[Task, Connection] = {}
        self._cluster = cluster
        self._own = hello(cluster, facts)
        self._listener = listener
        self._patience = patience
        self._connections: set[Connection] = set()
        self._difference: str | None = None
        self._selector = selectors.DefaultSelector()
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)

    def all_have_come(self) -> bool:
        return all(task in self.guests for task in self._others())

    def can_go_on(self) -> bool:
        """Whether nobody differs, which ends the meeting, and the chief reaches every address."""
        if self._difference:
            self._refuse(UsageError(self._difference), EXIT_USAGE)
        return not self._missing()

    def give_up(self) -> NoReturn:
        if self._difference:
            self._refuse(UsageError(self._difference), EXIT_USAGE)
        missing = ", ".join(self._missing())
        text = (
            f"{self._cluster.task} waited {self._patience.wait_seconds:.0f} s in vain for "
            f"{missing}; start the job again when they can come."
        )
        self._refuse(StartAgainError(text), EXIT_AGAIN)

    def say_who_is_missing(self) -> None:
        missing = ", ".join(self._missing())
        self._patience.say(self._cluster.task, missing)
        self.tell({"waiting": missing})

    def receive(self, limit_seconds: float) -> None:
        for key, _ in self._selector.select(limit_seconds):
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._read(key.data)

    def tell(self, message: Mapping[str, Any]) -> None:
        for connection in self._connections:
            with suppress(OSError):  # who is gone will be missed elsewhere
                connection.send(message)

    def open_the_job(self) -> dict[Task, Connection]:
        """Tell all that they have met; the connections that stay."""
        self.tell({"met": True})
        stay = {task: self.guests[task] for task in self._others()}
        self._connections -= set(stay.values())
        self.close()
        return stay

    def close(self) -> None:
        self._selector.close()
        for connection in self._connections:
            connection.close()

    def _others(self) -> tuple[Task, ...]:
        return self._cluster.members[1:]

    def _accept(self) -> None:
        with suppress(OSError):  # it may be gone again
            connection = Connection(self._listener.accept()[0])
            self._connections.add(connection)
            self._selector.register(connection, selectors.EVENT_READ, connection)

    def _read(self, connection: Connection) -> None:
        try:
            connection.fill()
            while (message := connection.take()) is not None:
                self._greet(connection, message)
        except OSError:
            self._drop(connection)

    def _drop(self, connection: Connection) -> None:
        self._selector.unregister(connection)
        self._connections.discard(connection)
        self.guests = {task: c for task, c in self.guests.items() if c is not connection}
        connection.close()

    def _greet(self, connection: Connection, message: dict[str, Any]) -> None:
        task = caller(message)
        if task is None:
            raise ConnectionAbortedError("no hello")
        difference = disagreement(self._own, message)
        if task in self.guests or task == self._cluster.task:
            difference = (
                f"two processes say that they are {task}, the second one at "
                f"{connection.peer_host}; start each task once."
            )
        if difference and not self._difference:
            self._difference = difference
            self._patience.end_within(_LATECOMERS_SECONDS)
        self.guests.setdefault(task, connection)
        waits_for = [str(other) for other in self._others() if other not in self.guests]
        connection.send({"waiting": ", ".join(waits_for) or "its chief's answer"})

    def _missing(self) -> list[str]:
        """Each task that has not come or that the chief does not reach, with the reason."""
        addresses = [self._cluster.address(task) for task in self._others()]
        found = reach(addresses, _PROBE_SECONDS)
        described = map(self._why_missing, self._others(), found)
        return [text for text in described if text]

    def _why_missing(self, task: Task, found: socket.socket | str) -> str | None:
        guest = self.guests.get(task)
        if isinstance(found, str):
            came = f"it has come from {guest.peer_host}, but it is not reached: " if guest else ""
            return f"{task} at {self._cluster.address(task)} ({came}{found})"
        found.close()
        if guest:
            return None
        return f"{task} at {self._cluster.address(task)} (its port answers, but it has not come)"

    def _refuse(self, error: Exception, code: int) -> NoReturn:
        self.tell({"refused": str(error), "code": code})
        raise error
