"""Where this process is: its cluster, its task, and the other tasks. Imports no TensorFlow."""

from tfdist.cluster.channel import Channel
from tfdist.cluster.meeting import meet
from tfdist.cluster.resolve import resolve
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task

__all__ = ["Channel", "Cluster", "Task", "meet", "resolve"]
