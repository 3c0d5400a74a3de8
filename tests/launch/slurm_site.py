"""Slurm with two nodes on this machine, started and ended by a test, with all in its folder."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.processes import hold_ports

_PROGRAMS = (
    "munged",
    "slurmctld",
    "slurmd",
    "sbatch",
    "srun",
    "salloc",
    "sinfo",
    "scontrol",
    "scancel",
)
_START_SECONDS = 60
_CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
KillWait=1
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""


@contextlib.contextmanager
def slurm_site(folder: Path) -> Iterator[Mapping[str, str]]:
    """Two idle nodes, n1 and n2; gives the variables by which Slurm's commands find them."""
    _require()
    config = folder / "slurm.conf"
    (folder / "state").mkdir()
    _write_key(folder / "key")
    with contextlib.ExitStack() as ending, hold_ports(3) as ports:
        host = socket.gethostname().partition(".")[0]
        config.write_text(_CONFIG.format(host=host, ports=ports, folder=folder))
        variables = {"SLURM_CONF": str(config)}
        ending.callback(_end, _munged(folder))
        ending.callback(_end, _daemon(["slurmctld", "-i", "-D"], variables))
        knowing = _knowing_the_nodes(folder)
        for node in ("n1", "n2"):
            ending.callback(_end, _daemon([*knowing, "slurmd", "-N", node, "-D"], variables))
        _wait_for_nodes(variables, folder)
        yield variables


def _require() -> None:
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if not missing and os.getuid() == 0:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"this needs root and {missing}")
    pytest.skip(f"needs root and Slurm; missing: {missing or 'root'}")


def _knowing_the_nodes(folder: Path) -> list[str]:
    """Words before a command, for which, and whatever it starts, both nodes are this machine."""
    hosts = folder / "hosts"
    hosts.write_text(Path("/etc/hosts").read_text() + "127.0.0.1 n1 n2\n")
    bind = 'mount --bind "$0" /etc/hosts && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", bind, str(hosts)]


def _write_key(file: Path) -> None:
    file.write_bytes(os.urandom(128))
    file.chmod(0o600)


def _munged(folder: Path) -> subprocess.Popen[bytes]:
    files = {"socket": "munge.socket", "key-file": "key", "pid-file": "munge.pid"}
    files |= {"log-file": "munge.log", "seed-file": "seed"}
    words = [f"--{name}={folder / file}" for name, file in files.items()]
    daemon = _daemon(["munged", "--foreground", "--force", *words], {})
    _wait(lambda: (folder / "munge.socket").exists(), "munged does not start")
    return daemon


def _daemon(words: list[str], variables: Mapping[str, str]) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    env = {**os.environ, **variables}
    return subprocess.Popen(words, env=env, stdin=quiet, stdout=quiet, stderr=quiet)


def _wait_for_nodes(variables: Mapping[str, str], folder: Path) -> None:
    def are_idle() -> bool:
        words = ["sinfo", "--noheader", "--format=%T %D"]
        env = {**os.environ, **variables}
        told = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
        return told.stdout.strip() == "idle 2"

    _wait(are_idle, f"the nodes are not idle; see {folder}")


def _wait(is_done, problem: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError(problem)
        time.sleep(0.05)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
