"""Hosts on this machine: network namespaces with an sshd in each, made and removed by a test."""

import contextlib
import getpass
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

_SSHD = "/usr/sbin/sshd"
_SSHD_CONFIG = """
ListenAddress {address}:{port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
"""
_SSH_CONFIG = """
Host first
    HostName {addresses[0]}
Host second
    HostName {addresses[1]}
Host *
    Port {port}
    User {user}
    IdentityFile {folder}/user
    IdentitiesOnly yes
    UserKnownHostsFile {folder}/known
    StrictHostKeyChecking accept-new
    LogLevel ERROR
"""
_HOSTS = """
127.0.0.1 localhost
{addresses[0]} first
{addresses[1]} second
"""
# Words before a hosts file, a host's name and a command: it and all that it starts see both.
_NAMED = ("unshare", "--mount", "--uts", "sh", "-c")
_NAMED = (*_NAMED, 'mount --bind "$0" /etc/hosts && hostname "$1" && shift && exec "$@"')
ALIASES = ("first", "second")
_PORT = 2222


@dataclass(frozen=True)
class Network:
    """Two hosts, which ssh knows as "first" and "second", and which call themselves so.

    Attributes:
        addresses: Of the hosts.
        ssh: The command that reaches them.
        outside: What runs a command where it can reach them: words to put before it.
        inside: The same for each of them.
    """

    addresses: tuple[str, ...]
    ssh: str
    outside: tuple[str, ...]
    inside: tuple[tuple[str, ...], ...]

    def cut(self, number: int) -> None:
        """Pull the cable of a host."""
        _run(*self.inside[number], "ip", "link", "set", "eth0", "down")


def require() -> None:
    """Skip, but never in CI, where there is no sshd or no right to make namespaces."""
    missing = [name for name in ("ip", "ssh", _SSHD) if shutil.which(name) is None]
    if not missing and os.getuid() == 0:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"this needs root and {missing}")
    pytest.skip(f"needs root, iproute2 and openssh-server; missing: {missing or 'root'}")


@contextlib.contextmanager
def network(folder: Path) -> Iterator[Network]:
    """Two hosts and a switch between them and a third one, which is outside."""
    require()
    mark = f"tfd{uuid.uuid4().hex[:5]}"
    names = (f"{mark}out", f"{mark}one", f"{mark}two")
    addresses = ("10.77.0.1", "10.77.0.2", "10.77.0.3")
    with contextlib.ExitStack() as made:
        for name in (f"{mark}hub", *names):
            _ip("netns", "add", name)
            made.callback(_ip, "netns", "delete", name)
        _ip("-n", f"{mark}hub", "link", "add", "hub", "type", "bridge")
        _ip("-n", f"{mark}hub", "link", "set", "hub", "up")
        for number, (name, address) in enumerate(zip(names, addresses, strict=True)):
            _connect(f"{mark}hub", name, number, address)
        _keys(folder)
        (folder / "hosts").write_text(_HOSTS.format(addresses=addresses[1:]))
        for name, alias, address in zip(names[1:], ALIASES, addresses[1:], strict=True):
            made.callback(_end, _sshd(name, alias, address, folder))
        outside, *inside = map(_inside, names)
        yield Network(addresses[1:], _ssh(addresses[1:], folder), outside, tuple(inside))


def _connect(hub: str, name: str, number: int, address: str) -> None:
    cable = f"cable{number}"
    _ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", cable, "netns", hub)
    _ip("-n", hub, "link", "set", cable, "master", "hub", "up")
    _ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        _ip("-n", name, "link", "set", device, "up")


def _keys(folder: Path) -> None:
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(words, check=True, timeout=20)


def _sshd(name: str, alias: str, address: str, folder: Path) -> subprocess.Popen[bytes]:
    Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it for its unprivileged half
    config = folder / f"sshd-{name}"
    config.write_text(_SSHD_CONFIG.format(address=address, port=_PORT, folder=folder))
    log = folder / f"sshd-{name}.log"
    words = [_SSHD, "-D", "-f", str(config), "-E", str(log)]
    words = [*_inside(name), *_NAMED, str(folder / "hosts"), alias, *words]
    daemon = subprocess.Popen(words)
    while daemon.poll() is None:
        if log.exists() and "Server listening" in log.read_text():
            return daemon
    raise RuntimeError(f"sshd ended: {log.read_text() if log.exists() else daemon.returncode}")


def _ssh(addresses: tuple[str, ...], folder: Path) -> str:
    config = folder / "ssh"
    text = _SSH_CONFIG.format(
        addresses=addresses, port=_PORT, user=getpass.getuser(), folder=folder
    )
    config.write_text(text)
    return f"ssh -F {config}"


def _inside(name: str) -> tuple[str, ...]:
    return ("ip", "netns", "exec", name)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, timeout=20)
