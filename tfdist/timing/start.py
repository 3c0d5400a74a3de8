"""Start the processes of one measurement, and hear what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from tfdist.errors import UsageError

MARK = "tfdist-timing "  # before the figures, on a line of the chief
IN_ONE_PROCESS = ("mirrored", "central_storage")
_LIMIT_SECONDS = 900
_END = 1500  # characters of an output that failed


def measure(kind: str, given: dict[str, Any], tasks: int, transport: str) -> dict[str, Any]:
    """Run `tfdist.timing.child` in so many tasks of this machine; return the chief's figures.

    Raises:
        UsageError: a task failed; with the end of what was said.
    """
    told = json.dumps({**given, "transport": transport, "tasks": tasks})
    command = [sys.executable, "-m", "tfdist.timing.child", kind, told]
    name = given.get("strategy", "multi_worker")
    if tasks > 1 and name not in IN_ONE_PROCESS:
        more = ["--transport=mpi"] if transport == "mpi" else []
        more += ["--chief", "--ps=1"] if name == "parameter_server" else []
        launch = [sys.executable, "-m", "tfdist.launch", f"--workers={tasks}", *more, "--"]
        command = [*launch, *command]
    done = subprocess.run(
        command, env=dict(os.environ), capture_output=True, text=True, timeout=_LIMIT_SECONDS
    )
    for line in done.stdout.splitlines():
        if MARK in line:
            return json.loads(line.partition(MARK)[2])
    said = (done.stdout + done.stderr)[-_END:]
    raise UsageError(
        f"{kind} over {tasks} tasks by {transport} ended with nothing measured: {said}"
    )
