"""What does an audit find? Its counts, and whether they are as they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdist.data.audit.digests import DIGEST_BYTES
from tfdist.data.order import Order

Buckets = tuple[bytes, Sequence[bytes]]  # The digests in the dataset, and those each worker read.


@dataclass(frozen=True)
class Findings:
    """What one pass over a dataset gave.

    Attributes:
        examples: in the dataset, read once without shuffling.
        read: by each replica of each worker.
        batches: of each worker, pairs of a size and the number of batches that have it.
        twice: examples that were read more often than they are there.
        never: examples that were not read.
        foreign: examples that were read and are not there.
        dropped: examples that are left out because the last batch is not full, as was asked for.
        unreadable: examples that were left out because they cannot be read, as was allowed.
        declared: whether each worker has data of its own, as `tfdist.per_worker` declares it.
    """

    examples: int
    read: Sequence[Sequence[int]]
    batches: Sequence[Sequence[Sequence[int]]]
    twice: int = 0
    never: int = 0
    foreign: int = 0
    dropped: int = 0
    unreadable: int = 0
    declared: bool = False

    @property
    def faults(self) -> list[str]:
        """What is wrong, a sentence each; none when all is as it should be."""
        return list(self._faults())

    def _faults(self) -> Iterator[str]:
        if self.examples == 0:
            yield "the dataset is empty"
        for worker, batches in enumerate(self.batches):
            if batches != self.batches[0] and not self.declared:
                yield f"worker {worker} reads batches of other sizes than worker 0"
        if self.foreign:
            yield (
                f"{self.foreign:,} that were read are not in the dataset: it differs from worker "
                "to worker, or gives other examples each time it is read"
            )
        if self.twice:
            yield f"{self.twice:,} were read more than once"
        if self.never != self.dropped:
            expected = f" instead of {self.dropped:,}" if self.dropped else ""
            yield f"{self.never:,} were never read{expected}"
        if self.twice and self.declared:
            yield "the workers' parts overlap: divide the data by context.worker"
        elif self.twice and not self.foreign:
            yield "the workers read in different orders: shuffle with one seed, or not at all"


def judge(
    reference: Mapping[str, Any],
    accounts: Sequence[Mapping[str, Any]],
    fetch: Callable[[int], Buckets],
    order: Order,
    unreadable: int = 0,
) -> Findings:
    """Compare what the workers read with what is in the dataset.

    Args:
        reference: the account of the dataset, from `Worker.account`.
        accounts: those of the workers.
        fetch: gives a bucket's digests; called for buckets that differ, in their order.
        order: how the workers read.
        unreadable: examples that were left out because they cannot be read.
    """
    examples = sum(reference["read"])
    total: Counter[str] = Counter()
    for number, expected in enumerate(reference["sums"]):
        sums = np.array([each["sums"][number] for each in accounts], np.uint64)
        if sums.sum(0, dtype=np.uint64).tolist() != expected:  # Modulo 2**64, as they are.
            there, read = fetch(number)
            total.update(_differences(there, b"".join(read)))
    return Findings(
        examples=examples,
        read=[each["read"] for each in accounts],
        batches=[each["batches"] for each in accounts],
        twice=total["twice"],
        never=total["never"],
        foreign=total["foreign"],
        dropped=examples % order.global_batch_size if order.drop_remainder else 0,
        unreadable=unreadable,
    )


def _differences(there: bytes, read: bytes) -> dict[str, int]:
    expected, found = (
        Counter(each[start : start + DIGEST_BYTES] for start in range(0, len(each), DIGEST_BYTES))
        for each in (there, read)
    )
    surplus, missing = found - expected, expected - found
    foreign = [digest for digest in surplus if digest not in expected]
    return {
        "twice": len(surplus) - len(foreign),
        "never": sum(missing.values()),
        "foreign": sum(surplus[digest] for digest in foreign),
    }
