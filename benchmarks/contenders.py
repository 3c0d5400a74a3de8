"""Who is measured, and how each is started: two processes with one thread each, or one process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hosts import CABLE, Hosts

from tfdist.launch.mpi import BETWEEN_HOSTS

_HERE = Path(__file__).resolve().parent
_MPIRUN = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2")
_PASSED_ON = ("-x", "PYTHONPATH")
_LIMIT_SECONDS = 300
_PATIENCE_SECONDS = 10


@dataclass(frozen=True)
class Contender:
    """One way to train.

    Attributes:
        name: As the table calls it.
        script: What trains, a file of this folder.
        start: "alone", "mpirun", "torchrun" or "TF_CONFIG".
        options: Arguments of the script.
        python: The interpreter that has what the script needs.
        env: Variables that it gets.
        share: What a process alone takes of the global batch.
    """

    name: str
    script: str
    start: str
    options: tuple[str, ...] = ()
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)
    share: float = 0.5

    @property
    def processes(self) -> int:
        """How many processes train."""
        return 1 if self.start == "alone" else 2


def contenders(torch_python: str | None, keras_python: str | None) -> list[Contender]:
    """Return all whose interpreter is given; those of tfdist need none."""
    own = "run_tfdist.py"
    mpi, ring = ("--transport=mpi",), ("--transport=ring",)
    found = [
        Contender("tfdist mpi", own, "mpirun", mpi),
        Contender("tfdist mpi, factors", own, "mpirun", (*mpi, "--compression=factors")),
        Contender("tfdist mpi, bf16", own, "mpirun", (*mpi, "--compression=bf16")),
        Contender(
            "tfdist mpi, factors in bf16", own, "mpirun", (*mpi, "--compression=factors+bf16")
        ),
        Contender("tfdist ring", own, "TF_CONFIG", ring),
        Contender("tfdist ring, factors", own, "TF_CONFIG", (*ring, "--compression=factors")),
        Contender("tfdist, one process, half the batch", own, "alone"),
    ]
    if torch_python:
        one = {"OMP_NUM_THREADS": "1"}
        found.append(Contender("PyTorch DDP", "run_torch.py", "torchrun", (), torch_python, one))
    if keras_python:
        script = "run_keras.py"
        found.append(Contender("tf_keras MultiWorker", script, "TF_CONFIG", (), keras_python))
    return found


def on_one_device() -> list[Contender]:
    """Return `fit` of tfdist and of Keras 3 in one process with two threads and whole batches."""
    two = ("--threads=2",)
    kernels = {"TF_ENABLE_ONEDNN_OPTS": "1"}  # what tfdist sets
    keras = "run_keras.py", "alone", ("--keras=keras", *two)
    return [
        Contender("tfdist", "run_tfdist.py", "alone", (*two, "--between=2"), share=1),
        Contender("Keras 3, the same variables", *keras, env=kernels, share=1),
        Contender("Keras 3 as installed", *keras, share=1),
    ]


def measure(
    contender: Contender,
    model: str,
    steps: int,
    batch: int,
    hosts: Hosts | None = None,
    more: tuple[str, ...] = (),
) -> dict[str, float]:
    """Run a contender once, on one machine or on two hosts; return what its first task found.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    rows = str(batch if contender.processes == 2 else int(batch * contender.share))
    script = [str(_HERE / contender.script), model, str(steps), rows, *contender.options, *more]
    env = {**os.environ, "PYTHONPATH": str(_HERE.parent), **contender.env}
    if contender.start == "TF_CONFIG":
        command, tasks = [contender.python, *script], _tf_configs(hosts)
        commands = [hosts.on(i, command) if hosts else command for i in range(2)]
        each = zip(commands, tasks, strict=True)
        return _result([_start(words, {**env, "TF_CONFIG": task}) for words, task in each])
    starters = _starters(contender, hosts)
    if hosts:
        env |= {"GLOO_SOCKET_IFNAME": CABLE, "PRTE_MCA_plm_ssh_agent": hosts.agent}
        env |= BETWEEN_HOSTS
        starters = [hosts.on(i, words) for i, words in enumerate(starters)]
    return _result([_start([*words, *script], env) for words in starters])


def _starters(contender: Contender, hosts: Hosts | None) -> list[list[str]]:
    """Return the commands, each for a host, that start what comes behind them."""
    folder = Path(contender.python).parent
    if contender.start == "mpirun":
        where = ["--host", ",".join(hosts.addresses), *_PASSED_ON] if hosts else []
        return [[str(folder / "mpirun"), *_MPIRUN, *where, contender.python]]
    if contender.start == "torchrun":
        words = [str(folder / "torchrun"), f"--master_port={_free_port()}"]
        if not hosts:
            return [[*words, "--nproc_per_node=2"]]
        words += ["--nnodes=2", "--nproc_per_node=1", f"--master_addr={hosts.addresses[0]}"]
        return [[*words, f"--node_rank={i}"] for i in range(2)]
    return [[contender.python]]


def _tf_configs(hosts: Hosts | None) -> list[str]:
    addresses = hosts.addresses if hosts else ("127.0.0.1", "127.0.0.1")
    workers = [f"{address}:{_free_port()}" for address in addresses]
    tasks = [{"type": "worker", "index": i} for i in range(2)]
    return [json.dumps({"cluster": {"worker": workers}, "task": task}) for task in tasks]


def _start(command: list[str], env: dict[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def _result(processes: list[subprocess.Popen[str]]) -> dict[str, float]:
    try:
        outputs = [process.communicate(timeout=_LIMIT_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.terminate()  # mpirun and torchrun end what they started, which a kill leaves
        for process in processes:
            _end(process)
    for process, (_, errors) in zip(processes, outputs, strict=True):
        if process.returncode:
            raise RuntimeError(f"{process.args} ended with {process.returncode}: {errors[-2000:]}")
    lines = (line for out, _ in outputs for line in out.splitlines())
    return next(json.loads(line) for line in lines if line.startswith("{"))


def _end(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
