"""What is kept of a run, so that nothing is lost: atomic saves, exact resume, preemption."""

from importlib import import_module
from typing import Any

_HOME = {"Checkpoint": "tfdist.checkpoint.callback", "export": "tfdist.checkpoint.exporting"}
__all__ = ["Checkpoint", "export"]


def __getattr__(name: str) -> Any:
    # On first use: a command watches for signals before it loads TensorFlow.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'tfdist.checkpoint' has no attribute {name!r}")
