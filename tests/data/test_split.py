import pytest

from tfdist.data.split import rows


@pytest.mark.parametrize("replicas", range(1, 10))
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 13, 64, 97, 1000, 65_537])
def test_parts_cover_each_row_once_and_differ_by_one_at_most(n, replicas):
    parts = [rows(n, replica, replicas) for replica in range(replicas)]
    assert [start for start, _ in parts] == [0] + [stop for _, stop in parts[:-1]]
    assert parts[-1][1] == n
    sizes = [stop - start for start, stop in parts]
    assert min(sizes) >= 0
    assert max(sizes) - min(sizes) <= 1


def test_known_parts():
    assert [rows(10, replica, 3) for replica in range(3)] == [(0, 3), (3, 6), (6, 10)]
    assert [rows(1, replica, 2) for replica in range(2)] == [(0, 0), (0, 1)]


@pytest.mark.parametrize(("n", "replica", "replicas"), [(-1, 0, 1), (4, 2, 2), (4, -1, 2)])
def test_impossible_parts_are_refused(n, replica, replicas):
    with pytest.raises(ValueError, match=f"no rows for replica {replica} of {replicas}"):
        rows(n, replica, replicas)
