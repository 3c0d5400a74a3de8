"""Start the tasks of a cluster as real processes, wait for them with a limit, and clean up."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
# Below Linux' ephemeral ports, so that no outgoing connection is given one of them meanwhile.
_PORTS = range(20_000, 32_000)
_LOCKS = Path(tempfile.gettempdir()) / "tfdist-test-ports"
# A test must not see the cluster that it happens to run in.
_FOREIGN = (
    *("TF_CONFIG", "TFDIST_", "SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_", "RAY_", "SM_"),
    *("KUBERNETES_", "JOB_COMPLETION_INDEX", "JOBSET_NAME", "REPLICATED_JOB_NAME", "CLUSTER_SPEC"),
)


@dataclass(frozen=True)
class Result:
    """How one process ended."""

    task: str
    returncode: int
    stdout: str
    stderr: str
    seconds: float


@dataclass
class Running:
    """A process that was started, its output going to files."""

    task: str
    process: subprocess.Popen[bytes]
    folder: Path
    started: float

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the process and whatever it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def wait(self, timeout_seconds: float) -> Result:
        """Wait for the end; subprocess.TimeoutExpired when it does not come in time."""
        code = self.process.wait(max(timeout_seconds, 0.01))
        return Result(self.task, code, *self.output(), time.monotonic() - self.started)

    def output(self) -> tuple[str, str]:
        """What it has written so far to standard output and standard error."""
        out, err = (self.folder / f"{self.task}.{name}" for name in ("out", "err"))
        return out.read_text(errors="replace"), err.read_text(errors="replace")


def run_tasks(
    script: str | Sequence[str],
    workers: int = 2,
    ps: int = 0,
    chief: bool = False,
    timeout_seconds: float = 120,
    env: Mapping[str, str] | None = None,
) -> list[Result]:
    """Run a cluster through TF_CONFIG on loopback; results in the order chief, workers, ps.

    Args:
        script: Python source, or the arguments of the interpreter ("-m", "tfdist.train", ...).
        timeout_seconds: For all of them together; what still runs then is killed.

    Raises:
        TimeoutError: with the end of every task's output.
    """
    with start_tasks(script, workers, ps, chief, env) as running:
        return wait_all(running, timeout_seconds)


def run_alone(
    script: str | Sequence[str], timeout_seconds: float = 120, env: Mapping[str, str] | None = None
) -> Result:
    """Run one process without a cluster; arguments as in `run_tasks`."""
    with _started(script, {"alone": {}}, env) as running:
        return wait_all(running, timeout_seconds)[0]


@contextlib.contextmanager
def start_tasks(
    script: str | Sequence[str],
    workers: int = 2,
    ps: int = 0,
    chief: bool = False,
    env: Mapping[str, str] | None = None,
    hosts: Sequence[tuple[str, Sequence[str]]] = (("127.0.0.1", ()),),
) -> Iterator[list[Running]]:
    """The same, for a test that acts while they run; kills what is left at the end.

    Args:
        hosts: Address, and words that run a command there, for one task after the other.
    """
    sizes = {"chief": int(chief), "worker": workers, "ps": ps}
    with hold_ports(sum(sizes.values())) as ports:
        places = itertools.cycle(hosts)
        free = (f"{next(places)[0]}:{port}" for port in ports)
        jobs = {job: [next(free) for _ in range(n)] for job, n in sizes.items() if n}
        tasks = {
            f"{job} {index}": {"TF_CONFIG": _tf_config(jobs, job, index)}
            for job, addresses in jobs.items()
            for index in range(len(addresses))
        }
        with _started(script, tasks, env, hosts) as running:
            yield running


def wait_all(running: Sequence[Running], timeout_seconds: float) -> list[Result]:
    """Wait until all have ended; TimeoutError with the end of their outputs otherwise."""
    deadline = time.monotonic() + timeout_seconds
    try:
        return [task.wait(deadline - time.monotonic()) for task in running]
    except subprocess.TimeoutExpired:
        told = "\n".join(_told(task) for task in running)
        raise TimeoutError(f"not ended after {timeout_seconds} s:\n{told}") from None


@contextlib.contextmanager
def hold_ports(count: int) -> Iterator[list[int]]:
    """Free ports that no other test takes as long as this lasts (a lock file for each)."""
    _LOCKS.mkdir(exist_ok=True)
    with contextlib.ExitStack() as locks:
        ports: list[int] = []
        # Not the process' own random state: a test in another thread may just have seeded it.
        for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
            if len(ports) == count:
                break
            if _lock(port, locks):
                ports.append(port)
        yield ports


def _lock(port: int, locks: contextlib.ExitStack) -> bool:
    file = os.open(_LOCKS / str(port), os.O_CREAT | os.O_RDWR, 0o666)
    locks.callback(os.close, file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.socket() as probe:
            probe.bind(("", port))
    except OSError:
        return False
    return True


@contextlib.contextmanager
def _started(
    script: str | Sequence[str],
    tasks: Mapping[str, Mapping[str, str]],
    env: Mapping[str, str] | None,
    hosts: Sequence[tuple[str, Sequence[str]]] = (("", ()),),
) -> Iterator[list[Running]]:
    running: list[Running] = []
    with tempfile.TemporaryDirectory(prefix="tfdist-test-") as name:
        folder = Path(name)
        command = _command(script, folder)
        try:
            for (task, own), (_, before) in zip(tasks.items(), itertools.cycle(hosts)):
                variables = {**_environment(), **(env or {}), **own}
                running.append(_start(task, [*before, *command], variables, folder))
            yield running
        finally:
            for each in running:
                each.kill()
                each.process.wait()


def _start(task: str, command: list[str], env: dict[str, str], folder: Path) -> Running:
    with open(folder / f"{task}.out", "wb") as out, open(folder / f"{task}.err", "wb") as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=env,
            start_new_session=True,
        )
    return Running(task, process, folder, time.monotonic())


def _command(script: str | Sequence[str], folder: Path) -> list[str]:
    if not isinstance(script, str):
        return [sys.executable, *script]
    file = folder / "script.py"
    file.write_text(script)
    return [sys.executable, str(file)]


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
    path = os.pathsep.join(filter(None, [str(_ROOT), kept.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}


def _tf_config(jobs: Mapping[str, list[str]], job: str, index: int) -> str:
    return json.dumps({"cluster": jobs, "task": {"type": job, "index": index}})


def _told(task: Running) -> str:
    out, err = task.output()
    return f"--- {task.task} (code {task.process.poll()})\n{out[-1500:]}\n{err[-3000:]}"
