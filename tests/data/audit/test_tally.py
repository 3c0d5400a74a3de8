import os

import numpy as np
import pytest

from tfdist.data.audit.tally import BUCKETS, Tally


@pytest.fixture(params=[2**18, 100])
def small_runs(request, monkeypatch):
    monkeypatch.setattr("tfdist.data.audit.tally._RUN_DIGESTS", request.param)


def split(content: bytes) -> list[bytes]:
    return [content[start : start + 16] for start in range(0, len(content), 16)]


@pytest.mark.usefixtures("small_runs")
def test_every_digest_is_in_its_bucket():
    digests = [os.urandom(16) for _ in range(1234)] + [bytes(16), b"\xff" * 16, b"\xff" * 16]
    tally = Tally()
    for start in range(0, len(digests), 7):
        tally.add(digests[start : start + 7])
    found = [split(tally.bucket(number)) for number in range(BUCKETS)]
    assert sorted(each for bucket in found for each in bucket) == sorted(digests)
    assert all(each[0] == number for number, bucket in enumerate(found) for each in bucket)


@pytest.mark.usefixtures("small_runs")
def test_sums_tell_collections_apart_and_do_not_depend_on_their_order():
    digests = [os.urandom(16) for _ in range(1000)]
    tallies = [Tally() for _ in range(4)]
    tallies[0].add(digests)
    tallies[1].add(reversed(digests))
    tallies[2].add([*digests[1:], digests[1]])
    tallies[3].add(digests[:400])
    tallies[3].add(digests[400:])
    sums = [np.array(each.sums(), np.uint64) for each in tallies]
    assert sums[0].tolist() == sums[1].tolist() == sums[3].tolist()
    assert sums[0].tolist() != sums[2].tolist()
    assert int(sums[0][:, 0].sum()) == 1000
    with np.errstate(over="ignore"):
        expected = np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2).sum(0)
    assert sums[0][:, 1:].sum(0).tolist() == expected.tolist()


def test_an_empty_tally():
    tally = Tally()
    assert tally.sums() == [[0, 0, 0]] * BUCKETS
    assert tally.bucket(5) == b""
