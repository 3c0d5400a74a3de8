"""Does any example come twice, where each worker has data of its own?"""

from __future__ import annotations

from collections import Counter

from tfdist.data.audit.digests import DIGEST_BYTES
from tfdist.data.audit.findings import Findings
from tfdist.data.audit.tally import BUCKETS
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
    twice = 0
    for bucket in range(BUCKETS):
        digests = b"".join(reader.tally.bucket(bucket) for reader in readers)
        places = range(0, len(digests), DIGEST_BYTES)
        seen = Counter(digests[place : place + DIGEST_BYTES] for place in places)
        twice += sum(count > 1 for count in seen.values())
    accounts = [reader.account() for reader in readers]
    return Findings(
        examples=sum(sum(account["read"]) for account in accounts),
        read=[account["read"] for account in accounts],
        batches=[account["batches"] for account in accounts],
        twice=twice,
        declared=True,
    )
