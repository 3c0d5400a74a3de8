"""What does one worker read of each global batch?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tfdist.data.audit.digests import of_batch
from tfdist.data.audit.tally import Tally
from tfdist.data.split import rows


class Worker:
    """A worker that reads its part of each global batch, and counts instead of training.

    Args:
        dataset: global batches.
        rank: number of this worker.
        workers: how many there are.
        replicas: how many each of them has.
    """

    def __init__(self, dataset: Any, rank: int = 0, workers: int = 1, replicas: int = 1) -> None:
        self._iterator: Iterator[Any] = iter(dataset)
        self._mine = range(rank * replicas, (rank + 1) * replicas)
        self._replicas = workers * replicas
        self._read = [0] * replicas
        self._batches: Counter[int] = Counter()
        self.tally = Tally()

    def step(self) -> bool:
        """Read one batch; False when there is none."""
        batch = next(self._iterator, None)
        if batch is None:
            return False
        digests = of_batch(batch)
        self._batches[len(digests)] += 1
        for place, replica in enumerate(self._mine):
            start, stop = rows(len(digests), replica, self._replicas)
            self.tally.add(digests[start:stop])
            self._read[place] += stop - start
        return True

    def account(self) -> dict[str, Any]:
        """What was read, as JSON values: by each replica, in which batches, with which sums."""
        sizes = sorted(self._batches.items(), reverse=True)
        return {
            "read": self._read,
            "batches": [list(each) for each in sizes],
            "sums": self.tally.sums(),
        }
