"""One task as the launcher sees it: a keeper on the task's host, and through it the task."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tfdist.cluster import Task
from tfdist.cluster.addresses import join_address
from tfdist.errors import StartAgainError
from tfdist.launch import keeper
from tfdist.launch.hosts import Host
from tfdist.launch.signals import Signals

_OFFER_SECONDS = 60
_BEAT_SECONDS = 5
_KILL_SECONDS = 5
_LAST_SIGNAL = 64


class LostHostError(StartAgainError):
    """A host cannot be reached.

    Args:
        host: Which one.
        sentence: What was tried, and what to do.
    """

    def __init__(self, host: Host, sentence: str) -> None:
        super().__init__(sentence)
        self.host = host


@dataclass(frozen=True)
class Order:
    """What a keeper runs.

    Attributes:
        command: The program and its arguments.
        folder: The working directory.
        variables: What its environment has beside, or instead of, that of its host.
        without: The beginnings of names of variables that it does not have.
        grace_seconds: Between SIGTERM and SIGKILL when the launcher is gone.
        silence_seconds: How long the launcher may be silent before it counts as gone.
        is_remote: Whether only an exit code reaches the launcher.
    """

    command: Sequence[str]
    folder: str
    variables: dict[str, str]
    without: Sequence[str] = ()
    grace_seconds: float = 10
    silence_seconds: float | None = None
    is_remote: bool = False


class Process:
    """A task with all that it starts, on this machine or on another.

    Args:
        task: Which one.
        host: Where it runs; its `address`, once known, is that of the task in the cluster.
        port: The one that it shall have; None for any that is free there.
        is_again: Whether another process had this port until now.
    """

    def __init__(
        self, task: Task, host: Host, port: int | None = None, is_again: bool = False
    ) -> None:
        self.task = task
        self.host = host
        self.address: str | None = None
        self._port = port
        self._is_started = False
        self._last_beat = time.monotonic()
        self._keeper: subprocess.Popen[bytes] = subprocess.Popen(
            host.keeper,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is the launcher's, who tells the keeper
        )
        pipes = {"stdout": self._keeper.stdout, "stderr": self._keeper.stderr}
        self.pipes = {name: pipe.fileno() for name, pipe in pipes.items() if pipe is not None}
        self._tell(host.greeting + _line({"port": port, "again": is_again}))

    def offer(self, signals: Signals, limit_seconds: float = _OFFER_SECONDS) -> int:
        """Hold a port for the task on its host, and return the number of cores there.

        Args:
            signals: Those that ask to end.
            limit_seconds: How long to wait for the host.

        Raises:
            LostHostError: the host cannot be reached.
            StartAgainError: the port is not free there.
        """
        said, deadline = b"", time.monotonic() + limit_seconds
        while time.monotonic() < deadline:
            signals.end_as_asked()
            *lines, _ = said.split(b"\n")
            for line in lines:
                if line.startswith(keeper.MARK.encode()):
                    return self._checked(json.loads(line[len(keeper.MARK) :]))
            if select.select([self.pipes["stdout"]], [], [], 0.1)[0]:
                chunk = os.read(self.pipes["stdout"], 65_536)
                if not chunk:
                    break
                said += chunk
        raise LostHostError(self.host, self._no_answer())

    def start(self, order: Order) -> None:
        """Start the task."""
        self._is_started = True
        self._tell(_line(asdict(order)))
        if self._keeper.stdin is not None:
            os.set_blocking(self._keeper.stdin.fileno(), False)  # a dead network must not hold us

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        code = self._keeper.poll()
        if code is not None and self.host.is_remote and 128 < code <= 128 + _LAST_SIGNAL:
            return 128 - code
        return code

    def beat(self) -> None:
        """Tell the keeper, from time to time, that the launcher is there."""
        if time.monotonic() > self._last_beat + _BEAT_SECONDS:
            self._last_beat = time.monotonic()
            self._tell(keeper.BEAT)

    def ask_to_end(self) -> None:
        """Send SIGTERM, which TensorFlow may be deaf to."""
        self._tell(keeper.TERMINATE) if self._is_started else self._hang_up()

    def kill(self) -> None:
        """Send SIGKILL; `wait` waits for the end."""
        self._tell(keeper.KILL) if self._is_started else self._hang_up()

    def wait(self) -> None:
        """Wait until it has ended; the keeper as well, or it is killed."""
        self._hang_up()
        try:
            self._keeper.wait(_KILL_SECONDS)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def close(self) -> None:
        """Close its output."""
        for pipe in (self._keeper.stdout, self._keeper.stderr):
            if pipe is not None:
                pipe.close()

    def _hang_up(self) -> None:
        """A keeper without an order ends by this, others as if the launcher were gone."""
        if self._keeper.stdin is not None:
            with contextlib.suppress(OSError):
                self._keeper.stdin.close()

    def _tell(self, words: bytes) -> None:
        if self._keeper.stdin is None or self._keeper.stdin.closed:
            return
        left = words
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            while left:
                left = left[os.write(self._keeper.stdin.fileno(), left) :]

    def _checked(self, offer: dict[str, Any]) -> int:
        if offer["port"] is None:
            which = f"its port {self._port}" if self._port else "any of the ports 20000 to 31999"
            raise StartAgainError(
                f"{self.task} cannot have {which} on {self.host}: it is taken; end what holds it, "
                "or choose another --base_port"
            )
        self.address = join_address(self.host.address, offer["port"])
        return offer["cores"]

    def _no_answer(self) -> str:
        self._keeper.kill()
        self._keeper.wait()
        # Not to the end of it, which a connection that ssh shares (ControlPersist) holds open.
        os.set_blocking(self.pipes["stderr"], False)
        try:
            words = os.read(self.pipes["stderr"], 65_536).decode(errors="replace")
        except BlockingIOError:
            words = ""
        last = (words.strip() or "no answer").splitlines()[-1]
        return (
            f"{self.task} cannot be started on {self.host} ({last}): try "
            f"`{' '.join(self.host.login)} true`, which must work without a question"
        )


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content).encode() + b"\n"
