"""What is an element of a dataset that gives a task its own rows of each global batch only?"""

from __future__ import annotations

from typing import Any, NamedTuple


class Dealt(NamedTuple):
    """A task's rows of a global batch whose size it knows.

    Attributes:
        batch: the rows, at least one.
        count: how many rows the task has: all, or 0 when it repeats one that counts nothing.
        total: examples in the global batch.
    """

    batch: Any
    count: Any
    total: Any


class Declared(NamedTuple):
    """A task's part of a global batch of which the others know nothing.

    Attributes:
        batch: the rows, at least one.
        count: how many rows the task has: all, or 0 when they count nothing.
        goes_on: 1 while the task has data, then 0.
    """

    batch: Any
    count: Any
    goes_on: Any


def batch_of(spec: Any) -> Any:
    """Return the structure of a batch, from the structure of any element."""
    return spec.batch if isinstance(spec, Dealt | Declared) else spec
