"""How values travel between replicas."""

from tfdist.transport.replicas import first, join, spans_tasks
from tfdist.transport.sums import sum_in_replica, sum_replicas

__all__ = ["first", "join", "spans_tasks", "sum_in_replica", "sum_replicas"]
