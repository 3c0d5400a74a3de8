"""What runs on one of Ray's nodes: the process of a task, and its answers to the launcher."""

from dataclasses import replace

from tfdist.cluster import Task
from tfdist.launch.hosts import THIS_MACHINE
from tfdist.launch.output import Listener
from tfdist.launch.process import Order, Process
from tfdist.launch.signals import Signals


class Node:
    """The actor: calls come one after the other, and none waits for long."""

    def __init__(self, task: Task, port: int | None) -> None:
        import ray

        here = replace(THIS_MACHINE, address=ray.util.get_node_ip_address())
        self._process = Process(task, here, port)
        self._lines: list[tuple[str, str]] = []
        self._listener = Listener(lambda task, name, line: self._lines.append((name, line)))

    def offer(self) -> str | None:
        """Hold a port, and return the address."""
        self._process.offer(Signals())
        return self._process.address

    def start(self, order: Order) -> None:
        """Start the task."""
        self._process.start(order)
        self._listener.add(self._process)

    def look(self) -> tuple[list[tuple[str, str]], int | None]:
        """Return the lines since the last look, each with its stream, and the exit code if any."""
        code = self._process.code
        self._listener.listen(wait=code is None)
        self._process.beat()
        lines, self._lines = self._lines, []
        return lines, code

    def end(self, at_once: bool) -> None:
        """Send SIGKILL or SIGTERM."""
        if at_once:
            self._process.kill()
        else:
            self._process.ask_to_end()
