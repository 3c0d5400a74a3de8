"""Do all tasks make the same variables? Compared as they are made, while nobody waits for it.

TensorFlow sends each variable's first value from the chief to the others, and tasks that make
other variables would wait for each other.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tfdist.cluster import Channel, Cluster, Task
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.watchdog import Watchdog
from tfdist.errors import EXIT_USAGE, StartAgainError
from tfdist.factory.failures import translated

if TYPE_CHECKING:
    import tensorflow as tf

_VERDICT_SECONDS = 2.0


def comparison(cluster: Cluster, channel: Channel, watchdog: Watchdog) -> Comparison:
    """Return what ends all tasks as soon as two make different variables.

    It listens from now on: to be made before the strategy, for which all tasks wait.
    """
    return Comparison(cluster, channel, lambda said: watchdog.end(said, EXIT_USAGE))


def compare_variables(strategy: tf.distribute.Strategy, comparison: Comparison) -> None:
    """Compare the variables that are made under a strategy."""
    extended = strategy.extended
    create = extended._create_variable

    def compared(next_creator: Any, **kwargs: Any) -> Any:
        import tensorflow as tf

        kwargs["initial_value"] = _noted(kwargs, comparison.make)
        with PULSE.doing(f"makes variable {comparison.made + 1}", together=True, patience=1):
            try:
                with translated():
                    return create(next_creator, **kwargs)
            except (tf.errors.OpError, StartAgainError):
                # The others' variables may be on their way, and say more than TensorFlow does.
                time.sleep(_VERDICT_SECONDS)
                raise

    extended._create_variable = compared


class Comparison:
    """The variables that the tasks have made so far, in their order.

    Args:
        cluster: The tasks; the chief compares.
        channel: The line to them.
        refuse: Called with a sentence when two tasks differ.
    """

    def __init__(self, cluster: Cluster, channel: Channel, refuse: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._channel = channel
        self._refuse = refuse
        self._ours: list[str] = []
        self._theirs: dict[Task, dict[int, str]] = defaultdict(dict)
        self._lock = threading.Lock()
        channel.listen("variable", self._hear)

    @property
    def made(self) -> int:
        """How many this task has made."""
        return len(self._ours)

    def make(self, described: str) -> None:
        """Note a variable of this task."""
        with self._lock:
            self._ours.append(described)
            number = len(self._ours)
        if not self._cluster.is_chief:
            self._channel.tell("variable", [number, described])
        self._compare(number)

    def _hear(self, task: Task, variable: list) -> None:
        number, described = variable
        with self._lock:
            self._theirs[task][number] = described
        self._compare(number)

    def _compare(self, number: int) -> None:
        with self._lock:
            ours = self._ours[number - 1] if number <= self.made else None
            known = {task: made[number] for task, made in self._theirs.items() if number in made}
        for task, theirs in known.items():
            if ours not in (None, theirs):
                self._refuse(
                    f"variable {number} is {ours} on {self._cluster.task} and {theirs} on "
                    f"{task}: start every task with the same model."
                )


def _noted(kwargs: dict[str, Any], note: Callable[[str], None]) -> Any:
    """Return a variable's first value, which is noted when it is there: before it is sent."""
    value: Any = kwargs.get("initial_value")
    noted: list[bool] = []
    name = str(kwargs.get("name") or "a variable").rpartition("/")[2]

    def noting(*args: Any, **options: Any) -> Any:
        made = value(*args, **options)
        if not noted:
            noted.append(True)
            note(_described(name, made))
        return made

    if isinstance(value, FunctionType):
        return noting
    note(_described(name, value))
    return value


def _described(name: str, value: Any) -> str:
    dtype = getattr(value, "dtype", None)
    return f"{name} {getattr(value, 'shape', '')} {getattr(dtype, 'name', dtype)}"
