"""The side channel of a running job: a star of TCP connections between the chief and the others."""

import os
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tfdist.cluster.messages import Connection
from tfdist.cluster.patience import Patience
from tfdist.cluster.reach import why
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.errors import EXIT_AGAIN, EXIT_DONE, StartAgainError, UsageError

# Only the chief knows whose value is missing, so it must be the first to give up.
_CHIEF_FIRST_SECONDS = 5.0


class Channel:
    """This task's connections: the chief has one to each other member, the others one to the chief.

    A thread for each connection reads it, so that the end of a task is known at once, also while
    this process computes. Without connections (one machine, an evaluator) every call returns at
    once.

    Args:
        cluster: The tasks.
        connections: What the meeting left open, by the task at the other end.
        wait_seconds: How long a call waits for the other tasks.
        say_every_seconds: How often it says on standard error for whom it waits.
        is_late: Whether this task has come to a job that had begun, in the place of a lost one.
    """

    def __init__(
        self,
        cluster: Cluster,
        connections: Mapping[Task, Connection],
        wait_seconds: float = 300,
        say_every_seconds: float = 10,
        is_late: bool = False,
    ) -> None:
        self.is_late = is_late
        self._cluster = cluster
        self._connections = dict(connections)
        self._wait_seconds = wait_seconds
        self._say_every_seconds = say_every_seconds
        self._news = threading.Condition()
        self._values: dict[tuple[Task, str], deque[Any]] = defaultdict(deque)
        self._known_lost: set[Task] = set()
        self._lost: dict[Task, str] = {}
        self._left: set[Task] = set()
        self._finished: int | None = None
        self._refused = ""
        self._closed = False
        self._when_lost: list[Callable[[str], None]] = []
        self._listeners: dict[str, Callable[[Task, Any], None]] = {}
        self._failures: dict[Task, str] = {}
        # A forked child that outlives this process must not keep its connections alive.
        os.register_at_fork(after_in_child=self._forget)
        for task, connection in self._connections.items():
            self._begin_to_read(task, connection)

    @property
    def lost(self) -> str | None:
        """The first task whose connection broke before the job was over, and why; else None."""
        with self._news:
            return next(iter(self._lost.values()), None)

    @property
    def fatal(self) -> str | None:
        """The same, but under parameter servers only of tasks that no other can stand in for."""
        with self._news:
            fatal = (task for task in self._lost if not self._can_do_without(task))
            return next((self._lost[task] for task in fatal), None)

    @property
    def missing(self) -> dict[Task, str]:
        """The others of the lost: workers whose steps are run again, and why each is lost."""
        with self._news:
            return {t: why for t, why in self._lost.items() if self._can_do_without(t)}

    @property
    def left(self) -> frozenset[Task]:
        """The tasks that have ended on good terms."""
        with self._news:
            return frozenset(self._left)

    @property
    def is_over(self) -> bool:
        """Whether the job has ended here, or for all."""
        with self._news:
            return self._closed or self._finished is not None

    def tell(self, kind: str, value: Any) -> None:
        """Give those at the other end a JSON value; nobody waits for it."""
        self._send_all({kind: value})

    def listen(self, kind: str, callback: Callable[[Task, Any], None]) -> None:
        """Call `callback(task, value)`, in another thread, for what is told under `kind`."""
        self._listeners[kind] = callback

    def fail(self, reason: str) -> None:
        """Tell the others why this process will be lost to them, in words behind "has failed: "."""
        self._send_all({"failed": reason})

    def when_lost(self, callback: Callable[[str], None]) -> None:
        """Call `callback(sentence)`, in another thread, once for each task that is lost."""
        with self._news:
            self._when_lost.append(callback)
            already = list(self._lost.values())
        for sentence in already:
            callback(sentence)

    def take_back(self, task: Task, connection: Connection) -> None:
        """Go on with a task that was lost; on the chief alone."""
        with self._news:
            for kept in (self._lost, self._failures):
                kept.pop(task, None)
            self._known_lost.discard(task)
            before, self._connections[task] = self._connections[task], connection
        before.close()
        self._begin_to_read(task, connection)

    def gather(self, key: str, value: Any) -> list[Any]:
        """The values that all members give under `key`, in their order: chief, workers, ps.

        Every member calls it, with the same keys in the same order.

        Args:
            key: What the value is; may be used again.
            value: A JSON value.

        Raises:
            UsageError: when another task gives something else at this point.
            StartAgainError: when a task is lost, has left or does not come in time.
        """
        if not self._connections:
            return [value]
        patience = Patience(self._wait_seconds, self._say_every_seconds)
        if not self._cluster.is_chief:
            patience.wait_seconds += _CHIEF_FIRST_SECONDS
            self._send(self._cluster.chief, {"key": key, "value": value})
            return self._receive(self._cluster.chief, key, patience)
        values = [value, *(self._receive(task, key, patience) for task in self._connections)]
        self._send_all({"key": key, "value": values})
        return values

    def finish(self, code: int) -> None:
        """Tell the others that the job is over, with its exit code; on the chief alone."""
        if not self._cluster.is_chief:
            return
        with self._news:
            self._finished = code
        self._send_all({"finish": code})

    def wait_finish(self) -> int:
        """Wait until the chief finishes: its exit code, or 75 when it ended without one."""
        chief = self._cluster.chief
        with self._news:
            while self._connections and self._finished is None:
                if chief in self._lost or chief in self._left:
                    return EXIT_AGAIN
                self._news.wait()
            return EXIT_DONE if self._finished is None else self._finished

    def close(self) -> None:
        """Leave the job on good terms: the others do not take it for a loss."""
        with self._news:
            self._closed = True
        self._send_all({"bye": True})
        for connection in self._connections.values():
            connection.close()

    def _send(self, task: Task, message: Mapping[str, Any]) -> None:
        connection = self._connections[task]
        try:
            connection.send(message)
        except OSError as error:
            self._lose(task, connection, error)

    def _send_all(self, message: Mapping[str, Any]) -> None:
        for task in self._connections:
            self._send(task, message)

    def _receive(self, task: Task, key: str, patience: Patience) -> Any:
        with self._news:
            while not self._values[task, key]:
                self._refuse_another(task, key)
                if self._lost or task in self._left:
                    raise StartAgainError(self._gone(task))
                if patience.is_over:
                    break
                if patience.time_to_say():
                    patience.say(self._cluster.task, f"{task} to give its {key}")
                self._news.wait(patience.pause_seconds)
            else:
                return self._values[task, key].popleft()
        late = f"{task} did not give its {key} within {patience.wait_seconds:.0f} s"
        self._declare_lost(task, late + "; start the job again.")
        raise StartAgainError(self._gone(task))

    def _refuse_another(self, task: Task, key: str) -> None:
        """Refuse a task that gives something else: it waits for others to give that."""
        given = [k for (t, k), values in self._values.items() if t == task and values]
        if given and not self._refused:
            self._refused = (
                f"{task} gives its {given[0]} where {self._cluster.task} gives its {key}: start "
                "every task with the same script, callbacks and flags."
            )
            self._send_all({"refused": self._refused})
        if self._refused:
            raise UsageError(self._refused)

    def _gone(self, task: Task) -> str:
        return next(
            iter(self._lost.values()), f"{task} has ended before the others; start the job again."
        )

    def _begin_to_read(self, task: Task, connection: Connection) -> None:
        threading.Thread(target=self._read, args=(task, connection), daemon=True).start()

    def _read(self, task: Task, connection: Connection) -> None:
        try:
            while True:
                while (message := connection.take()) is not None:
                    self._hear(task, message)
                connection.fill()
        except OSError as error:
            self._lose(task, connection, error)

    def _hear(self, task: Task, message: Mapping[str, Any]) -> None:
        if "lost" in message:
            lost = Task(message["lost"]["type"], message["lost"]["index"])
            self._declare_lost(lost, message["sentence"])
        for kind in self._listeners.keys() & message.keys():
            self._listeners[kind](task, message[kind])
        with self._news:
            if "key" in message:
                self._values[task, message["key"]].append(message["value"])
            elif "finish" in message:
                self._finished = message["finish"]
            elif "bye" in message:
                self._left.add(task)
            elif "refused" in message:
                self._refused = message["refused"]
            elif "failed" in message:
                self._failures[task] = message["failed"]
            self._news.notify_all()

    def _can_do_without(self, task: Task) -> bool:
        return self._cluster.has_ps and task.type == "worker"

    def _lose(self, task: Task, connection: Connection, error: OSError) -> None:
        if connection is not self._connections[task]:  # another one has taken its place
            return
        reason = self._failures.get(task)
        what = f"has failed: {reason}" if reason else f"is lost: {why(error)}; {self._then(task)}"
        self._declare_lost(task, f"{task} at {self._cluster.address(task)} {what}")

    def _then(self, task: Task) -> str:
        if self._can_do_without(task):
            return "its steps are run again, on others or when it is back."
        return "start the job again."

    def _declare_lost(self, task: Task, sentence: str) -> None:
        with self._news:
            over = self._closed or self._finished is not None or task in self._left
            if over or task in self._known_lost:
                return
            self._known_lost.add(task)
        if self._cluster.is_chief:
            # The others hear it first: once this task knows, it may end, and they would name it.
            lost = {"type": task.type, "index": task.index}
            self._send_all({"lost": lost, "sentence": sentence})
        with self._news:
            self._lost[task] = sentence
            self._news.notify_all()
            callbacks = list(self._when_lost)
        for callback in callbacks:
            callback(sentence)

    def _forget(self) -> None:
        with suppress(OSError):
            for connection in self._connections.values():
                connection.forget()
