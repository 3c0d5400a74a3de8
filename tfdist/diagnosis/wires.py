"""How fast are the ways between the tasks, and how far apart are their hosts' clocks?

Every task listens at its own address in the cluster, as TensorFlow will, and tries those of all
others; then each sends to the next one, all at once, as a ring of all-reduce does.
"""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from tfdist.cluster import Channel, Cluster, Task
from tfdist.cluster.ports import hold_port
from tfdist.cluster.reach import reach

_TIME = struct.Struct("!d")
_LENGTH = struct.Struct("!Q")
_PING, _SEND = b"P", b"S"
_PINGS = 20
_CHUNK = bytes(1 << 20)
_SEND_SECONDS = 0.5
_LIMIT_SECONDS = 10.0


@dataclass(frozen=True)
class Wire:
    """The way from this task to another.

    Attributes:
        start, end: The tasks, as text.
        problem: Why there is no way; else "".
        round_trip_seconds: For a few bytes there and back, the fastest of some.
        clock_seconds: By how much the clock there is ahead, give or take half a round trip.
        bytes_per_second: Of a large message, where it was measured.
    """

    start: str
    end: str
    problem: str = ""
    round_trip_seconds: float | None = None
    clock_seconds: float | None = None
    bytes_per_second: float | None = None


def measure(cluster: Cluster, channel: Channel) -> list[Wire]:
    """Measure the ways from this task to all others; every member of the cluster calls it.

    Raises:
        StartAgainError: a task is lost, or this task's port is taken.
    """
    others = [task for task in cluster.members if task != cluster.task]
    with hold_port(cluster.task, cluster.address(cluster.task)) as listener:
        threading.Thread(target=_serve, args=(listener,), daemon=True).start()
        try:
            channel.gather("listening", True)
            wires = list(_tried(cluster, others))
            channel.gather("tried", True)
            wires = [_sent(each, cluster) if each.end == _next(cluster) else each for each in wires]
            channel.gather("sent", True)
            return wires
        finally:
            listener.shutdown(socket.SHUT_RDWR)  # ends the thread that waits there


def _next(cluster: Cluster) -> str:
    after = cluster.members.index(cluster.task) + 1
    return str(cluster.members[after % len(cluster.members)])


def _tried(cluster: Cluster, others: list[Task]) -> Iterator[Wire]:
    found = reach([cluster.address(task) for task in others], _LIMIT_SECONDS)
    for task, way in zip(others, found, strict=True):
        ends = (str(cluster.task), str(task))
        if isinstance(way, str):
            yield Wire(*ends, way)
            continue
        with way:
            try:
                yield Wire(*ends, "", *_ping(way))
            except OSError as error:
                yield Wire(*ends, error.strerror or str(error))


def _ping(way: socket.socket) -> tuple[float, float]:
    way.settimeout(_LIMIT_SECONDS)
    way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    tries = []
    for _ in range(_PINGS):
        begun, asked = time.time(), time.perf_counter()
        way.sendall(_PING)
        (there,) = _TIME.unpack(_exactly(way, _TIME.size))
        seconds = time.perf_counter() - asked
        tries.append((seconds, there - begun - seconds / 2))
    return min(tries)


def _sent(wire: Wire, cluster: Cluster) -> Wire:
    """The wire with how fast a large message goes over it."""
    if wire.problem:
        return wire
    task = next(task for task in cluster.members if str(task) == wire.end)
    (way,) = reach([cluster.address(task)], _LIMIT_SECONDS)
    if isinstance(way, str):
        return Wire(wire.start, wire.end, way)
    with way:
        try:
            speed = _send(way)
        except TimeoutError:
            problem = "short messages arrive and long ones do not, as when hosts differ in MTU"
            return Wire(wire.start, wire.end, problem)
        except OSError as error:
            return Wire(wire.start, wire.end, error.strerror or str(error))
    return Wire(wire.start, wire.end, "", wire.round_trip_seconds, wire.clock_seconds, speed)


def _send(way: socket.socket) -> float:
    way.settimeout(_LIMIT_SECONDS)
    begun, sent = time.perf_counter(), 0
    while time.perf_counter() < begun + _SEND_SECONDS:
        way.sendall(_SEND + _LENGTH.pack(len(_CHUNK)) + _CHUNK)
        sent += len(_CHUNK)
    way.sendall(_PING)  # which is answered after all that was before it
    _exactly(way, _TIME.size)
    return sent / (time.perf_counter() - begun)


def _serve(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed when all have measured
        while True:
            way, _ = listener.accept()
            threading.Thread(target=_answer, args=(way,), daemon=True).start()


def _answer(way: socket.socket) -> None:
    with way, contextlib.suppress(OSError):
        way.settimeout(2 * _LIMIT_SECONDS)
        way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            if _exactly(way, 1) == _PING:
                way.sendall(_TIME.pack(time.time()))
            else:
                _swallow(way, *_LENGTH.unpack(_exactly(way, _LENGTH.size)))


def _swallow(way: socket.socket, size: int) -> None:
    buffer = memoryview(bytearray(size))
    while size:
        read = way.recv_into(buffer[:size])
        if not read:
            raise ConnectionResetError("it closed the connection")
        size -= read


def _exactly(way: socket.socket, size: int) -> bytes:
    read = bytearray()
    while len(read) < size:
        part = way.recv(size - len(read))
        if not part:
            raise ConnectionResetError("it closed the connection")
        read += part
    return bytes(read)
