"""Keras 3 models on tf.distribute, with the numbers of one device."""

from tfdist import interrupt

if interrupt.is_command():
    interrupt.end_at_once()  # before all else is loaded

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names load on first use, so that `import tfdist` and every --help stay free of TensorFlow.
_HOME = {
    "UsageError": "tfdist.errors",
    "StartAgainError": "tfdist.errors",
    "FailedError": "tfdist.errors",
    "Board": "tfdist.progress.board",
    "Checkpoint": "tfdist.checkpoint",
    "Lines": "tfdist.progress.lines",
    "Trace": "tfdist.progress.trace",
    "average": "tfdist.training.averaging",
    "export": "tfdist.checkpoint",
    "per_worker": "tfdist.data.per_worker",
    "strategy": "tfdist.factory",
    "distribute": "tfdist.training",
    "global_sum": "tfdist.training.own_step",
    "verify": "tfdist.verify",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'tfdist' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
