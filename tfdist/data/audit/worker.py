"""What does one worker read of each global batch?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tfdist.data.audit.digests import of_batch
from tfdist.data.audit.tally import Tally
from tfdist.data.dealt import Dealt
from tfdist.data.split import rows


class Worker:
    """A worker that reads its part of each global batch, and counts instead of training.

    Args:
        dataset: global batches, or `Dealt`, this worker's rows of them.
        rank: number of this worker.
        workers: how many there are.
        replicas: how many each of them has.
    """

    def __init__(self, dataset: Any, rank: int = 0, workers: int = 1, replicas: int = 1) -> None:
        self._iterator: Iterator[Any] = iter(dataset)
        self._rank, self._workers = rank, workers
        self._read = [0] * replicas
        self._batches: Counter[int] = Counter()
        self.tally = Tally()

    def step(self) -> bool:
        """Read one batch; False when there is none."""
        batch = next(self._iterator, None)
        if batch is None:
            return False
        if isinstance(batch, Dealt):
            digests = of_batch(batch.batch)[: int(batch.count)]
            self._batches[int(batch.total)] += 1
        else:
            every = of_batch(batch)
            start, stop = rows(len(every), self._rank, self._workers)
            digests = every[start:stop]
            self._batches[len(every)] += 1
        self.tally.add(digests)
        for replica in range(len(self._read)):
            start, stop = rows(len(digests), replica, len(self._read))
            self._read[replica] += stop - start
        return True

    def account(self) -> dict[str, Any]:
        """What was read, as JSON values: by each replica, in which batches, with which sums."""
        sizes = sorted(self._batches.items(), reverse=True)
        return {
            "read": self._read,
            "batches": [list(each) for each in sizes],
            "sums": self.tally.sums(),
        }
