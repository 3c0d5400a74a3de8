"""Who starts the tasks of a cluster, watches them and ends them. Imports no TensorFlow."""

from tfdist.launch.ended import Ended, first_failure
from tfdist.launch.local import run_local, show

__all__ = ["Ended", "first_failure", "run_local", "show"]
