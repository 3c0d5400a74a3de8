"""The meeting of all tasks before any strategy is built: nobody waits for long or for nobody.

The chief listens at its cluster address and every other task connects to it, so the meeting also
shows that names, routes and firewalls let them. The connections stay as the job's side channel.
"""

from collections.abc import Mapping
from typing import Any

from tfdist.cluster.channel import Channel
from tfdist.cluster.guest import join
from tfdist.cluster.host import receive_all
from tfdist.cluster.patience import Patience
from tfdist.cluster.ports import hold_port
from tfdist.cluster.spec import Cluster


def meet(
    cluster: Cluster,
    facts: Mapping[str, Any],
    wait_seconds: float = 300,
    say_every_seconds: float = 10,
    call_seconds: float | None = None,
) -> Channel:
    """Wait until all tasks are there, and agree with them on what the job is.

    Takes this task's own port until the meeting ends and then leaves it to TensorFlow. An
    evaluator, and a task that has no others, does not wait.

    Args:
        cluster: The tasks; all but the evaluators must come.
        facts: What must be the same on every task, as JSON values.
        wait_seconds: How long to wait for the others.
        say_every_seconds: How often to say on standard error who is missing, and why.
        call_seconds: How long a later call waits for the others; by default `wait_seconds`.

    Returns:
        The side channel, which the caller closes.

    Raises:
        UsageError: on every task, when two tasks differ in their cluster or in a fact.
        StartAgainError: when a task is still missing after `wait_seconds`, or when another process
            has this task's port.
    """
    if cluster.is_evaluator or len(cluster.members) == 1:
        return Channel(cluster, {})
    patience = Patience(wait_seconds, say_every_seconds)
    is_late = False
    with hold_port(cluster.task, cluster.address(cluster.task)) as listener:
        if cluster.is_chief:
            connections = receive_all(cluster, facts, listener, patience)
        else:
            connection, is_late = join(cluster, facts, listener, patience)
            connections = {cluster.chief: connection}
    wait_seconds = call_seconds or wait_seconds
    return Channel(cluster, connections, wait_seconds, say_every_seconds, is_late)
