"""What is kept of a run, so that nothing is lost: atomic saves, exact resume, preemption."""

from importlib import import_module
from typing import Any

__all__ = ["Checkpoint"]


def __getattr__(name: str) -> Any:
    # On first use: a command watches for signals before it loads TensorFlow.
    if name == "Checkpoint":
        return import_module("tfdist.checkpoint.callback").Checkpoint
    raise AttributeError(f"module 'tfdist.checkpoint' has no attribute {name!r}")
