"""This process becomes a task of its cluster: it meets the others before anything is built."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import tfdist
from tfdist.cluster import Channel, Cluster, meet
from tfdist.cluster.proxies import swallowed
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.recall import Recall
from tfdist.cluster.variables import environment
from tfdist.cluster.watchdog import Watchdog
from tfdist.errors import UsageError
from tfdist.factory import mpi
from tfdist.factory.ending import Ending
from tfdist.factory.fingerprint import tensorflow_flags
from tfdist.factory.hardware import apply
from tfdist.factory.planning import Plan
from tfdist.factory.quieter import say_it_better
from tfdist.factory.serving import serve
from tfdist.factory.too_early import tensorflow_has_run, too_early

_ending: Ending | None = None


def join(
    planned: Plan,
    facts: Mapping[str, Any],
    wait_seconds: float,
    stall_seconds: float,
) -> tuple[Channel, Watchdog]:
    """Meet the other tasks, and watch them; a task that only serves ends its process here.

    Args:
        planned: What is to be built.
        facts: What must be the same in every task beside the versions, flags and devices.
        wait_seconds: For the others to come.
        stall_seconds: From then on, for one that has fallen silent or behind.

    Raises:
        UsageError: TensorFlow already ran, this process already is a task of another job, a proxy
            would take the traffic, or the tasks differ in what they must agree on.
        StartAgainError: another task did not come within `wait_seconds`.
    """
    global _ending
    _check_proxies(planned.cluster)
    _check_that_it_can(planned.choice.name)
    apply(planned.request)
    facts = {**_facts(planned), **facts}
    channel = meet(planned.cluster, facts, wait_seconds)
    watchdog = Watchdog(planned.cluster, channel, PULSE, stall_seconds).start()
    if planned.cluster.serves_only:
        serve(planned.cluster, planned.devices, planned.request, channel)
    _ending = Ending(planned.cluster, channel)
    if planned.cluster.has_ps:
        channel.gather("serving", True)  # every server is up now
        Recall(planned.cluster, facts, channel, watchdog).start()
        say_it_better(channel)
    return channel, watchdog


def finish(code: int, reason: str = "") -> None:
    """Tell the other tasks that this process ends with this exit code; a script need not.

    The end of a script, and of the exception that ends it, is told anyway; only the code that is
    given to sys.exit() cannot be seen.
    """
    if _ending is not None:
        _ending.tell(code, reason)
        mpi.end_with(code)


def _check_that_it_can(name: str) -> None:
    """Before the meeting, so that no other task waits for one that cannot go on."""
    if _ending is not None:
        raise UsageError(
            f"strategy {name!r} was asked for in a process that already is a task of a cluster "
            "with another strategy, cluster, devices or transport: start a new process."
        )
    if tensorflow_has_run():
        raise too_early(f"{name} can no longer be set up")


def _check_proxies(cluster: Cluster) -> None:
    if found := swallowed(cluster, environment()):
        raise UsageError(f"{found[0]}: {found[1]}.")


def _facts(planned: Plan) -> Mapping[str, object]:
    """What must be the same in every task, whatever it trains."""
    import keras
    import tensorflow as tf

    facts: dict[str, object] = {
        "strategy": planned.choice.name,
        "tfdist": tfdist.__version__,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        "python": platform.python_version().rpartition(".")[0],
    }
    if not planned.cluster.has_ps:  # there chief and ps tasks have other devices than workers
        facts["devices"] = str(planned.devices)
        facts["flags"] = tensorflow_flags()
    return facts
