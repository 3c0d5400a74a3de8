"""How values travel between replicas."""

from tfdist.transport.collective import first, spans_tasks, sum_in_replica, sum_replicas

__all__ = ["first", "spans_tasks", "sum_in_replica", "sum_replicas"]
