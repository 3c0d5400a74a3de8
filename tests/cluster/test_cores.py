import pytest

from tfdist.cluster.cores import share

A, B = ["a", [0, 2, 1, 3]], ["b", [0, 1]]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([A, A], [[0, 2], [1, 3]]),
        ([A, B, A], [[0, 2], [], [1, 3]]),
        ([B, A, B, A], [[0], [0, 2], [1], [1, 3]]),
        ([A, A, A], [[0], [2], [1]]),
        ([A], [[]]),
        ([B, B, B], [[], [], []]),  # more tasks than cores
        ([["a", [0]], ["a", [1]]], [[], []]),  # bound apart already
        ([A, None, A], [[0, 2], [], [1, 3]]),
        ([None, A], [[], []]),
    ],
)
def test_tasks_of_a_machine_share_its_cores(told, expected):
    assert [share(told, member) for member in range(len(told))] == expected
