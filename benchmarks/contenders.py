"""Who is measured, and how each is started: two processes with one thread each, or one process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_MPIRUN = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", "2")
_LIMIT_SECONDS = 600


@dataclass(frozen=True)
class Contender:
    """One way to train.

    Attributes:
        name: As the table calls it.
        script: What trains, a file of this folder.
        start: "alone", "mpirun", "torchrun" or "TF_CONFIG".
        options: Arguments of the script.
        python: The interpreter that has what the script needs.
    """

    name: str
    script: str
    start: str
    options: tuple[str, ...] = ()
    python: str = sys.executable
    env: dict[str, str] = field(default_factory=dict)

    @property
    def processes(self) -> int:
        """How many processes train."""
        return 1 if self.start == "alone" else 2


def contenders(torch_python: str | None, keras_python: str | None) -> list[Contender]:
    """Return all whose interpreter is given; those of tfdist need none."""
    own = "run_tfdist.py"
    found = [
        Contender("tfdist mpi", own, "mpirun", ("--transport=mpi",)),
        Contender("tfdist ring", own, "TF_CONFIG", ("--transport=ring", "--between=2")),
        Contender("tfdist, one process, half the batch", own, "alone"),
    ]
    if torch_python:
        one = {"OMP_NUM_THREADS": "1"}
        found.append(Contender("PyTorch DDP", "run_torch.py", "torchrun", (), torch_python, one))
    if keras_python:
        script = "run_tf_keras.py"
        found.append(Contender("tf_keras MultiWorker", script, "TF_CONFIG", (), keras_python))
    return found


def measure(contender: Contender, model: str, steps: int, batch: int) -> float:
    """Run a contender once; return milliseconds per step.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    rows = str(batch if contender.processes == 2 else batch // 2)
    script = [str(_HERE / contender.script), model, str(steps), rows, *contender.options]
    command = [*_starter(contender), *script]
    env = {**os.environ, "PYTHONPATH": str(_HERE.parent), **contender.env}
    if contender.start != "TF_CONFIG":
        return _result([_start(command, env)])
    ports = [_free_port() for _ in range(2)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    tasks = [{"cluster": cluster, "task": {"type": "worker", "index": i}} for i in range(2)]
    return _result([_start(command, {**env, "TF_CONFIG": json.dumps(task)}) for task in tasks])


def _starter(contender: Contender) -> list[str]:
    folder = Path(contender.python).parent
    if contender.start == "mpirun":
        return [str(folder / "mpirun"), *_MPIRUN, contender.python]
    if contender.start == "torchrun":
        port = f"--master_port={_free_port()}"
        return [str(folder / "torchrun"), "--nproc_per_node=2", port]
    return [contender.python]


def _start(command: list[str], env: dict[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def _result(processes: list[subprocess.Popen[str]]) -> float:
    try:
        outputs = [process.communicate(timeout=_LIMIT_SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, (_, errors) in zip(processes, outputs, strict=True):
        if process.returncode:
            raise RuntimeError(f"{process.args} ended with {process.returncode}: {errors[-2000:]}")
    lines = (line for out, _ in outputs for line in out.splitlines())
    return float(next(json.loads(line) for line in lines if line.startswith("{"))["ms_per_step"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
