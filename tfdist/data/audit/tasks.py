"""Who reads in an audit? Workers simulated in one process, or the tasks of a cluster."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from tfdist.cluster import Channel
from tfdist.data.audit.findings import Buckets, Findings, judge
from tfdist.data.audit.worker import Worker
from tfdist.data.batches import batches, divided
from tfdist.data.divided import Divided
from tfdist.data.order import Order
from tfdist.data.source import Source

STEPS_AT_ONCE = 32  # Between two meetings of the tasks, so that none waits long for another.


def audit(
    sources: Callable[[], Source], order: Order, workers: int = 1, replicas: int = 1
) -> Findings:
    """Read one pass as so many workers would, each through a pipeline of its own.

    Args:
        sources: loads the dataset as each task would.
        order: how it is read.
        workers: number of workers.
        replicas: number of replicas of each worker.

    Raises:
        UsageError: too many examples cannot be read.
    """
    source = sources()
    alone = _reference(source, order)
    readers = [
        _worker(_again(source, sources), order, rank, workers, replicas) for rank in range(workers)
    ]
    with _told(source):
        while _steps([alone, *readers]):
            pass

    def fetch(number: int) -> Buckets:
        return alone.tally.bucket(number), [each.tally.bucket(number) for each in readers]

    accounts = [each.account() for each in readers]
    return judge(alone.account(), accounts, fetch, order, _unreadable(source))


def audit_with(
    channel: Channel, source: Source, order: Order, rank: int, workers: int, replicas: int = 1
) -> Findings:
    """Read one pass as one of the tasks of a cluster; each of them returns the same findings.

    The chief also reads what is in the dataset, and all are judged by that.

    Args:
        channel: the line to the other tasks, which all call this function.
        source: the dataset, as this task has loaded it.
        order: how it is read.
        rank: number of this worker.
        workers: number of workers.
        replicas: number of replicas of each worker.

    Raises:
        UsageError: too many examples cannot be read.
        StartAgainError: another task is lost or does not come in time.
    """
    mine = [_worker(source, order, rank, workers, replicas)]
    if rank == 0:
        mine.append(_reference(source, order))
    with _told(source):
        while any(channel.gather("goes on", _steps(mine))):
            pass
    accounts = channel.gather("accounts", [each.account() for each in mine])

    def fetch(number: int) -> Buckets:
        texts = [base64.b85encode(each.tally.bucket(number)).decode() for each in mine]
        all_texts = channel.gather(f"bucket {number}", texts)
        given = [[base64.b85decode(text) for text in each] for each in all_texts]
        return given[0][1], [each[0] for each in given]

    unreadable = max(channel.gather("unreadable", _unreadable(source)))
    return judge(accounts[0][1], [each[0] for each in accounts], fetch, order, unreadable)


def _worker(source: Source, order: Order, rank: int, workers: int, replicas: int) -> Worker:
    """Who reads what a worker reads in training."""
    dataset = divided(source, order)
    if isinstance(dataset, Divided):
        dataset = dataset.dataset(rank, workers)
    return Worker(dataset, rank, workers, replicas)


def _reference(source: Source, order: Order) -> Worker:
    """Who reads all that is there, in its own order."""
    plain = replace(order, shuffle=False, drop_remainder=False)
    return Worker(batches(source, plain))


def _again(source: Source, sources: Callable[[], Source]) -> Source:
    # Where examples have numbers, nothing but the order could differ from task to task.
    return source if source.train_reader is not None else sources()


def _steps(readers: Iterable[Worker]) -> bool:
    """Let each read some batches; whether one of them has not come to its end."""
    goes_on = [all(each.step() for _ in range(STEPS_AT_ONCE)) for each in readers]
    return any(goes_on)


def _told(source: Source) -> AbstractContextManager[None]:
    return source.bad.told() if source.bad is not None else nullcontext()


def _unreadable(source: Source) -> int:
    return len(source.bad.reasons) if source.bad is not None else 0
