"""The chief takes a worker back that was lost under parameter servers and has been started again.

Nobody listens for it any more: TensorFlow has the chief's port. So the chief calls at the address
of each worker that it misses, where a task that waits for the meeting answers.
"""

import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tfdist.cluster.channel import Channel
from tfdist.cluster.hello import caller, disagreement, hello
from tfdist.cluster.messages import Connection
from tfdist.cluster.reach import reach
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.cluster.watchdog import Watchdog
from tfdist.errors import EXIT_USAGE

_LOOK_AGAIN_SECONDS = 0.5
_CONNECT_SECONDS = 4.0
_ANSWER_SECONDS = 5.0


class Recall:
    """Says which workers are lost and which are back, and takes them back, until the job is over.

    Args:
        cluster: The tasks, of which this one is the chief.
        facts: What must be the same on every task, as at the meeting.
        channel: The line to the others.
        watchdog: Hears of a task anew when it is back.
    """

    def __init__(
        self, cluster: Cluster, facts: Mapping[str, Any], channel: Channel, watchdog: Watchdog
    ) -> None:
        self._cluster = cluster
        self._own = hello(cluster, facts)
        self._channel = channel
        self._watchdog = watchdog
        self._refused: set[str] = set()

    def start(self) -> None:
        """Do so from now on, in threads of its own."""
        self._channel.when_lost(self._say_who_is_lost)
        threading.Thread(target=self._look, daemon=True).start()

    def _say_who_is_lost(self, sentence: str) -> None:
        if sentence in self._channel.missing.values():  # who is needed is spoken of elsewhere
            _say(sentence)

    def _look(self) -> None:
        while not self._channel.is_over:
            time.sleep(_LOOK_AGAIN_SECONDS)
            for task in self._channel.missing:
                self._call(task)

    def _call(self, task: Task) -> None:
        (found,) = reach([self._cluster.address(task)], _CONNECT_SECONDS)
        if isinstance(found, str):
            return
        try:
            connection = Connection(found)
            connection.send({"calls": self._own["tfdist"]})
            taken = self._answer(task, connection)
        except OSError:  # it is not so far, or something else has its port
            taken = False
        if not taken:
            found.close()
            return
        self._watchdog.hear_anew(task)
        self._channel.take_back(task, connection)
        _say(f"{task} at {self._cluster.address(task)} is back")

    def _answer(self, task: Task, connection: Connection) -> bool:
        """Whether it is this task that answers, and of the same job."""
        message = _next(connection)
        if message is None or caller(message) != task:
            return False
        difference = disagreement(self._own, message)
        if difference is None:
            connection.send({"met": True, "late": True})
            return True
        with suppress(OSError):
            connection.send({"refused": difference, "code": EXIT_USAGE})
        if difference not in self._refused:
            self._refused.add(difference)
            _say(f"{task} is not taken back: {difference}")
        return False


def _next(connection: Connection) -> dict[str, Any] | None:
    deadline = time.monotonic() + _ANSWER_SECONDS
    while (left := deadline - time.monotonic()) > 0:
        if connection.is_readable(left):
            connection.fill()
        if (message := connection.take()) is not None:
            return message
    return None


def _say(sentence: str) -> None:
    sys.stderr.write(f"tfdist: {sentence}\n")
    sys.stderr.flush()
