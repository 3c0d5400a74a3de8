"""What does each task read, when the rows of each global batch are dealt out to the tasks?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Divided:
    """Global batches, of which each task reads its own rows only.

    The global batches do not depend on the number of tasks. Together the tasks read each example
    once in a pass.

    Attributes:
        make: from the number of a task and the number of tasks to its tf.data dataset, whose
            elements are `Dealt`; for a single task, the global batches as they are.
    """

    make: Callable[[int, int], Any]

    def dataset(self, task: int, tasks: int) -> Any:
        """Return what a task reads.

        Raises:
            ValueError: there is no such task.
        """
        if not 0 <= task < tasks:
            raise ValueError(f"there is no task {task} among {tasks}")
        return self.make(task, tasks)
