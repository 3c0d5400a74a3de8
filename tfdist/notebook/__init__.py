"""Several workers from a notebook: a function runs on a cluster of child processes."""

from tfdist.notebook.result import History, Result
from tfdist.notebook.run import run

__all__ = ["History", "Result", "run"]
