"""The tasks as actors in a placement group of Ray, each with a keeper on its node.

Placement groups: https://docs.ray.io/en/latest/ray-core/scheduling/placement-group.html
"""

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfdist.cluster import Task
from tfdist.cluster.patience import Patience
from tfdist.cluster.reach import reach
from tfdist.cluster.variables import variable
from tfdist.errors import StartAgainError, UsageError
from tfdist.launch.ended import Ended
from tfdist.launch.group import Group, run
from tfdist.launch.hosts import Host
from tfdist.launch.ray.actor import Bundle
from tfdist.launch.screen import Screen
from tfdist.launch.signals import Signals

_CONNECT_SECONDS = 4.0
_WAIT_SECONDS, _SAY_EVERY_SECONDS, _LOOK_AGAIN_SECONDS = 300.0, 10.0, 0.5
_STRATEGY = "PACK"


@dataclass(frozen=True)
class Actors:
    """What is to run on Ray.

    Attributes:
        command: The program and its arguments, the same for all tasks.
        tasks: All of them.
        resources: What each has for itself, as Ray counts it, such as {"CPU": 1.0}.
        passed_on: Names of variables that tasks are given beside the usual.
        grace_seconds: Between SIGTERM and SIGKILL.
    """

    command: Sequence[str]
    tasks: Sequence[Task]
    resources: dict[str, float]
    passed_on: tuple[str, ...] = ()
    grace_seconds: float = 10

    def __str__(self) -> str:
        group = {"strategy": _STRATEGY, "bundles": self._bundles}
        return json.dumps({"placement_group": group, "command": list(self.command)}, indent=2)

    def runner(self, screen: Screen, signals: Signals) -> Callable[[], list[Ended]]:
        """Return what runs all tasks once, showing what they write.

        Raises:
            UsageError: Ray is not installed, or RAY_ADDRESS leads to none.
        """
        _connect(self.resources["CPU"] * len(self.tasks))
        return lambda: self._run(screen, signals)

    @property
    def _bundles(self) -> list[dict[str, float]]:
        return [self.resources] * len(self.tasks)

    def _run(self, screen: Screen, signals: Signals) -> list[Ended]:
        import ray

        placement = ray.util.placement_group(self._bundles, strategy=_STRATEGY)
        try:
            self._await(placement, signals)
            bundles = [Bundle(placement, i, self.resources) for i in range(len(self.tasks))]
            places = {
                task: Host(str(bundle), "", (), login=("ray",), process=bundle.process)
                for task, bundle in zip(self.tasks, bundles, strict=True)
            }
            group = Group(self.command, places, self.grace_seconds, passed_on=self.passed_on)
            return run(group, screen, signals, screen.say)
        finally:
            ray.util.remove_placement_group(placement)

    def _await(self, placement: Any, signals: Signals) -> None:
        patience = Patience(_WAIT_SECONDS, _SAY_EVERY_SECONDS)
        wanted = f"Ray to have {len(self.tasks)} times {self.resources}"
        while not placement.wait(_LOOK_AGAIN_SECONDS):
            signals.end_as_asked()
            if patience.is_over:
                raise StartAgainError(f"waited {_WAIT_SECONDS:.0f} s in vain for {wanted}")
            if patience.time_to_say():
                patience.say("the launcher", wanted)


def resources(words: str | None) -> dict[str, float]:
    """Read what each task has for itself from a text such as "CPU=2 GPU=1".

    Raises:
        UsageError: it is no such text.
    """
    found = {"CPU": 1.0}
    for word in (words or "").split():
        name, _, amount = word.partition("=")
        try:
            found[name] = float(amount)
        except ValueError:
            raise UsageError(
                f"--submit_options has {word!r} where ray expects what each task has for itself: "
                "write it like 'CPU=2 GPU=1'"
            ) from None
    return found


def _connect(cores: float) -> None:
    """Join the Ray that RAY_ADDRESS names or that runs here, or else start one here."""
    try:
        import ray
    except ImportError:
        raise UsageError("--submit=ray needs Ray: pip install 'tfdist[ray]'") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address := variable("RAY_ADDRESS"):
        _check_that_it_answers(address)
    try:
        ray.init(address=address or "auto", **quiet)
    except ConnectionError as error:
        if address:
            raise UsageError(f"RAY_ADDRESS is {address}, and Ray says: {error}") from None
        enough = max(os.cpu_count() or 1, round(cores + 0.5))
        ray.init(address="local", num_cpus=enough, include_dashboard=False, **quiet)


def _check_that_it_answers(address: str) -> None:
    """Before Ray itself looks for it, for more than a minute."""
    if not re.fullmatch(r"[^/]+:\d+", address):  # "auto", or that of a Ray client
        return
    (found,) = reach([address], _CONNECT_SECONDS)
    if isinstance(found, str):
        raise UsageError(
            f"RAY_ADDRESS is {address}, where no Ray answers ({found}): correct or unset it"
        )
    found.close()
