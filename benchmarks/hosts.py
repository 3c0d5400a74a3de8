"""Two hosts on this machine: network namespaces, and a cable of a given rate between them."""

from __future__ import annotations

import contextlib
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CABLE = "cable"  # what each host calls its end
_NAMES = ("first", "second")
_ADDRESSES = ("10.78.0.1", "10.78.0.2")
# A host's own name, without which MPI takes both for one machine and its memory for the cable.
_NAMED = ("unshare", "--mount", "--uts", "sh", "-c")
_NAMED = (*_NAMED, 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"')
# What mpirun calls instead of ssh: a host, then a command.
_AGENT = """#!/bin/sh
shift
exec {words} sh -c "$*"
"""


@dataclass(frozen=True)
class Hosts:
    """Two hosts.

    Attributes:
        addresses: Of each.
        agent: The program by which mpirun on the first host reaches the second.
        inside: For each, the words before a command that runs there.
    """

    addresses: tuple[str, ...]
    agent: str
    inside: tuple[list[str], ...]

    def on(self, number: int, command: list[str]) -> list[str]:
        """Return a command as one that runs on a host."""
        return [*self.inside[number], *command]


def end_in_order() -> None:
    """Let SIGTERM, as `timeout` sends it, end what was started and remove what was made."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@contextlib.contextmanager
def two_hosts(rate: str) -> Iterator[Hosts]:
    """Make two hosts, and remove them in the end; needs root and iproute2.

    Args:
        rate: Of the cable, each way, as `tc` writes it: "1gbit".
    """
    with contextlib.ExitStack() as made, tempfile.TemporaryDirectory() as folder:
        for name in _NAMES:
            _ip("netns", "add", f"tfdist-{name}")
            made.callback(_ip, "netns", "delete", f"tfdist-{name}")
        first, second = (f"tfdist-{name}" for name in _NAMES)
        peer = ("type", "veth", "peer", "name", CABLE, "netns", second)
        _ip("link", "add", CABLE, "netns", first, *peer)
        for name, address in zip((first, second), _ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", CABLE)
            for device in ("lo", CABLE):
                _ip("-n", name, "link", "set", device, "up")
            shaped = ("root", "tbf", "rate", rate, "burst", "256kb", "latency", "50ms")
            subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", CABLE, *shaped], check=True)
        known, agent = Path(folder) / "hosts", Path(folder) / "agent"
        lines = zip(("127.0.0.1", *_ADDRESSES), ("localhost", *_NAMES), strict=True)
        known.write_text("".join(f"{address} {name}\n" for address, name in lines))
        inside = tuple(
            ["ip", "netns", "exec", f"tfdist-{name}", *_NAMED, str(known), name] for name in _NAMES
        )
        agent.write_text(_AGENT.format(words=shlex.join(inside[1])))
        agent.chmod(0o755)
        yield Hosts(_ADDRESSES, str(agent), inside)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
