"""How values travel between replicas."""

from tfdist.transport.replicas import first, spans_tasks
from tfdist.transport.sums import join_replicas, sum_in_replica, sum_replicas

__all__ = ["first", "join_replicas", "spans_tasks", "sum_in_replica", "sum_replicas"]
