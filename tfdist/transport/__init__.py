"""How values travel between replicas."""

from tfdist.transport.replicas import first, here, place, spans_tasks
from tfdist.transport.sums import join_replicas, sum_in_replica, sum_once, sum_replicas

__all__ = [
    "first",
    "here",
    "join_replicas",
    "place",
    "spans_tasks",
    "sum_in_replica",
    "sum_once",
    "sum_replicas",
]
