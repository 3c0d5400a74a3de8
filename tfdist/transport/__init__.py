"""How values travel between replicas."""

from tfdist.transport.collective import first, join, spans_tasks, sum_in_replica, sum_replicas

__all__ = ["first", "join", "spans_tasks", "sum_in_replica", "sum_replicas"]
