"""Run the tasks of a cluster, each on its host, until they have ended or one has failed."""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from tfdist.cluster import Cluster, Task
from tfdist.cluster.addresses import split_address
from tfdist.errors import EXIT_DONE
from tfdist.launch.ended import Ended, first_failure
from tfdist.launch.environment import OTHER_CLUSTERS, passed_on, variables
from tfdist.launch.hosts import Host
from tfdist.launch.output import Listener
from tfdist.launch.process import Order, Process
from tfdist.launch.replacing import Replacing
from tfdist.launch.restarts import Restarts
from tfdist.launch.signals import Signals
from tfdist.launch.watch import ended_by, only_serve, stop, watch

_SILENCE_SECONDS = 60.0
_TRIES_FOR_PORTS = 3
_OFFER_AGAIN_SECONDS = 20  # the output of the others waits meanwhile


@dataclass(frozen=True)
class Group:
    """What is to run, and how.

    Attributes:
        command: The program and its arguments, the same for all tasks.
        places: The host of each task.
        grace_seconds: Between SIGTERM and SIGKILL.
        timeout_seconds: For all of it; None for no limit.
        base_port: The port of the first task on each host; None for free ones.
        passed_on: Names of variables that tasks on other hosts are given beside the usual.
        is_cluster: Whether the tasks are one; else there is one process that trains alone.
        given: What they are given instead of a cluster and a share of the cores, in the environment
            as it is.
        restarts: How many single workers of parameter servers can be started again; None: when one
            dies the group ends.
    """

    command: Sequence[str]
    places: Mapping[Task, Host]
    grace_seconds: float = 10
    timeout_seconds: float | None = None
    base_port: int | None = None
    passed_on: tuple[str, ...] = ()
    is_cluster: bool = True
    given: Mapping[str, str] | None = None
    restarts: Restarts | None = None


def run(
    group: Group,
    heard: Callable[[Task, str, str], None],
    signals: Signals,
    say: Callable[[str], None] = lambda sentence: None,
) -> list[Ended]:
    """Run a group, as new processes on new ports; again when another program took a port.

    When a task fails, the time is over or a signal came, the other tasks are asked to end (SIGTERM)
    and then made to (SIGKILL), at once when another signal comes. None outlives this process.

    Args:
        group: What is to run.
        heard: Called with the task, "stdout" or "stderr", and each line of its output.
        signals: Those that ask to end.
        say: Called with a sentence about what happens.

    Returns:
        How the tasks ended, in that order.

    Raises:
        StartAgainError: a host cannot be reached, or has no port left.
    """
    for left in reversed(range(_TRIES_FOR_PORTS)):
        processes: list[Process] = []
        ended = _run(group, processes, heard, signals, say)
        taken = [each for each in processes if left and _is_answered(each)]
        if signals.received or first_failure(ended) is None or not taken:
            break
        say(f"another program has taken {taken[0].address} of {taken[0].task}: starting again")
    return ended


def _run(
    group: Group,
    processes: list[Process],
    heard: Callable[[Task, str, str], None],
    signals: Signals,
    say: Callable[[str], None],
) -> list[Ended]:
    with Listener(heard) as listener, ExitStack() as ending:
        ending.callback(stop, processes, listener, group.grace_seconds, signals)
        for task, host in group.places.items():
            make = host.process or Process
            processes.append(make(task, host, _port(group, processes, host)))
        orders = _start(group, processes, signals)
        for each in processes:
            listener.add(each)

        def again(before: Process) -> Process:
            return _again(before, orders[before.task], processes, listener, signals)

        replacing = Replacing(group.restarts, again, say) if group.restarts else None
        limits = group.timeout_seconds, group.grace_seconds
        ended = watch(processes, listener, *limits, signals, replacing)
        if signals.received:
            say("asked to end: stopping all tasks; asked once more, at once")
    return ended + _stopped(processes, ended, signals)


def _is_answered(process: Process) -> bool:
    """Whether somebody listens at the address of a task that has ended."""
    if process.address is None:
        return False
    try:
        with socket.create_connection(split_address(process.address), timeout=1):
            return True
    except OSError:
        return False


def _port(group: Group, before: Sequence[Process], host: Host) -> int | None:
    on_host = sum(each.host == host for each in before)
    return None if group.base_port is None else group.base_port + on_host


def _start(group: Group, processes: Sequence[Process], signals: Signals) -> dict[Task, Order]:
    cores = {each.host: each.offer(signals) for each in processes}
    jobs: dict[str, dict[int, str]] = {}
    for each in processes:
        if each.task.type != "evaluator" and each.address:  # that is beside the cluster, not in it
            jobs.setdefault(each.task.type, {})[each.task.index] = each.address
    orders: dict[Task, Order] = {}
    for each in processes:
        cluster = Cluster(jobs, each.task, "the launcher") if group.is_cluster else Cluster()
        neighbours = sum(other.host == each.host for other in processes)
        own = variables(cluster, cores[each.host] // neighbours)
        order = _order(group, each.host, own if group.given is None else group.given)
        orders[each.task] = order
        each.start(order)
    return orders


def _again(
    before: Process,
    order: Order,
    processes: list[Process],
    listener: Listener,
    signals: Signals,
) -> Process:
    """Start a task again alone, where it was."""
    port = split_address(before.address)[1] if before.address else None
    new = Process(before.task, before.host, port, is_again=True)
    processes[processes.index(before)] = new
    listener.remove(before)
    before.wait()
    before.close()
    new.offer(signals, _OFFER_AGAIN_SECONDS)
    new.start(order)
    listener.add(new)
    return new


def _order(group: Group, host: Host, own: Mapping[str, str]) -> Order:
    without = OTHER_CLUSTERS if group.given is None else ()
    order = Order(group.command, os.getcwd(), dict(own), without, group.grace_seconds)
    if not host.is_remote:
        return order
    given = {**passed_on(group.passed_on), **own}
    return replace(order, variables=given, silence_seconds=_SILENCE_SECONDS, is_remote=True)


def _stopped(processes: Sequence[Process], ended: Sequence[Ended], signals: Signals) -> list[Ended]:
    gone = {each.task for each in ended}
    left = [each for each in processes if each.task not in gone]
    had_no_more_to_do = (
        not signals.received
        and first_failure(ended) is None
        and only_serve([each.task for each in left], ended)
    )
    if had_no_more_to_do:
        return [ended_by(each, EXIT_DONE) for each in left]
    return [ended_by(each, each.code, was_stopped=True) for each in left]
