"""Run a script in several processes that MPI starts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.processes import Result, run_alone

_MPIRUN = Path(sys.executable).parent / "mpirun"
_BECOME = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
_OPTIONS = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")


def mpirun(
    script: str | Sequence[str],
    folder: Path,
    ranks: int = 2,
    timeout_seconds: float = 120,
    env: Mapping[str, str] | None = None,
) -> Result:
    """Run Python source, or arguments of Python, in so many ranks; the result is that of mpirun."""
    if isinstance(script, str):
        file = folder / "script.py"
        file.write_text(script)
        script = [str(file)]
    command = [str(_MPIRUN), *_OPTIONS, "-np", str(ranks), sys.executable, *script]
    return run_alone(["-c", _BECOME, *command], timeout_seconds, env)
