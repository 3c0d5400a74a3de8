"""How often was each example seen? Counted in little memory, however many there are."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterable

import numpy as np

from tfdist.data.audit.digests import DIGEST_BYTES

BUCKETS = 256
_RUN_DIGESTS = 2**18

Sums = list[list[int]]  # Of each bucket: the number of digests, and their sum in two halves.


class Tally:
    """A collection of digests, in buckets by their first byte.

    Takes 4 MiB of memory, beside which a bucket is read as a whole: 1/256 of 16 bytes for each
    digest, 64 MB for a thousand million. On disk it takes 16 bytes for each digest.
    """

    def __init__(self) -> None:
        self._recent: list[bytes] = []
        # Run after run, each with its buckets in order; it has no name, so that it always goes.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._runs: list[tuple[int, np.ndarray]] = []
        self._sums = np.zeros((BUCKETS, 3), np.uint64)

    def add(self, digests: Iterable[bytes]) -> None:
        """Count the examples with these digests."""
        self._recent.extend(digests)
        if len(self._recent) >= _RUN_DIGESTS:
            self._write_run()

    def sums(self) -> Sums:
        """What two collections have in common when they hold the same digests equally often.

        Others have the same sums by a chance of 2**-128.
        """
        self._write_run()
        return self._sums.tolist()

    def bucket(self, number: int) -> bytes:
        """All digests of a bucket, one after the other, in no order."""
        self._write_run()
        parts = []
        for start, ends in self._runs:
            begin = int(ends[number - 1]) if number else 0
            self._file.seek(start + begin * DIGEST_BYTES)
            parts.append(self._file.read((int(ends[number]) - begin) * DIGEST_BYTES))
        return b"".join(parts)

    def _write_run(self) -> None:
        if not self._recent:
            return
        digests = np.frombuffer(b"".join(self._recent), np.uint8).reshape(-1, DIGEST_BYTES)
        self._recent.clear()
        digests = digests[np.argsort(digests[:, 0], kind="stable")]
        ends = np.searchsorted(digests[:, 0], np.arange(BUCKETS), side="right")
        self._runs.append((self._file.seek(0, 2), ends))
        self._file.write(digests.tobytes())
        halves = np.concatenate([np.zeros((1, 2), np.uint64), digests.view(np.uint64)])
        until = np.cumsum(halves, axis=0, dtype=np.uint64)[ends]  # Modulo 2**64.
        self._sums[:, 0] += np.diff(ends, prepend=0).astype(np.uint64)
        self._sums[:, 1:] += np.diff(until, axis=0, prepend=np.zeros((1, 2), np.uint64))
