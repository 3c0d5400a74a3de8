"""Does any example come twice, where each worker has data of its own?"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfdist.cluster import Channel
from tfdist.data.audit.digests import DIGEST_BYTES
from tfdist.data.audit.findings import Findings
from tfdist.data.audit.tally import BUCKETS
from tfdist.data.audit.tasks import STEPS_AT_ONCE
from tfdist.data.audit.worker import Worker
from tfdist.data.per_worker import PerWorker


def audit_declared(data: PerWorker, workers: int, epoch: int = 0) -> Findings:
    """Read one epoch of each worker, and find the examples that come more than once.

    Nothing says which examples there are in all, so none can be found missing.

    Args:
        data: what `tfdist.per_worker` returned.
        workers: for how many workers its function is asked.
        epoch: number of the epoch.

    Raises:
        UsageError: the function does not return a dataset.
    """
    readers = [Worker(data.dataset(worker, workers, epoch)) for worker in range(workers)]
    for reader in readers:
        while reader.step():
            pass
    accounts = [reader.account() for reader in readers]
    return _findings(accounts, lambda n: [reader.tally.bucket(n) for reader in readers])


def audit_declared_with(
    channel: Channel, data: PerWorker, rank: int, workers: int, epoch: int = 0
) -> Findings:
    """Read one epoch as one of the workers, all of which call this and return the same findings.

    Args:
        channel: the line to the other workers.
        data: what `tfdist.per_worker` returned.
        rank: number of this worker.
        workers: how many there are.
        epoch: number of the epoch.

    Raises:
        UsageError: the function does not return a dataset.
        StartAgainError: another task is lost or does not come in time.
    """
    mine = Worker(data.dataset(rank, workers, epoch))
    while any(channel.gather("goes on", all(mine.step() for _ in range(STEPS_AT_ONCE)))):
        pass

    def fetch(number: int) -> list[bytes]:
        text = base64.b85encode(mine.tally.bucket(number)).decode()
        return [base64.b85decode(each) for each in channel.gather(f"bucket {number}", text)]

    return _findings(channel.gather("accounts", mine.account()), fetch)


def _findings(
    accounts: Sequence[Mapping[str, Any]], fetch: Callable[[int], Sequence[bytes]]
) -> Findings:
    twice = 0
    for bucket in range(BUCKETS):
        if not any(account["sums"][bucket][0] for account in accounts):
            continue
        digests = b"".join(fetch(bucket))
        places = range(0, len(digests), DIGEST_BYTES)
        seen = Counter(digests[place : place + DIGEST_BYTES] for place in places)
        twice += sum(count > 1 for count in seen.values())
    return Findings(
        examples=sum(sum(account["read"]) for account in accounts),
        read=[account["read"] for account in accounts],
        batches=[account["batches"] for account in accounts],
        twice=twice,
        declared=True,
    )
