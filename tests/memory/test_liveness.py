"""The peak of programs that were counted by hand."""

import pytest

from tfdist.memory.liveness import ALIAS, HELD, REUSE, Operation, Peak, peak


def test_a_buffer_lives_from_its_maker_to_its_last_reader():
    found = peak(
        [
            Operation("a", makes=((0, 100),)),
            Operation("b", (0,), ((1, 10),)),
            Operation("c", (1,), ((2, 1),)),
            Operation("d", (0, 2), ((3, 1000),)),
            Operation("e", (3,), ((4, 5),)),
        ],
        results={4},
    )
    assert found == Peak(1101, {"a": 100, "c": 1, "d": 1000})  # b is gone by then


@pytest.mark.parametrize(
    ("way", "bytes_"),
    [(REUSE, 100), (ALIAS, 100), ("new", 200)],
)
def test_a_result_may_lie_where_its_input_lay(way, bytes_):
    chain = [
        Operation("a", makes=((0, 100),)),
        Operation("b", (0,), ((1, 100),), way=way),
        Operation("c", (1,), ((2, 1),)),
    ]
    assert peak(chain).total_bytes == pytest.approx(bytes_, abs=1)


def test_an_input_that_is_read_later_is_not_written_over():
    found = peak(
        [
            Operation("a", makes=((0, 100),)),
            Operation("b", (0,), ((1, 100),), way=REUSE),
            Operation("c", (0, 1), ((2, 1),), after=("b",)),
        ]
    )
    assert found.total_bytes == 201


def test_variables_count_elsewhere_and_what_is_inside_counts_while_it_runs():
    found = peak(
        [
            Operation("v", makes=((0, 10**6),), way=HELD),
            Operation("same", (0,), ((1, 10**6),), way=ALIAS),
            Operation("loop", (1,), ((2, 3),), inside_bytes=70),
            Operation("after", (2,), ((3, 50),)),
        ]
    )
    assert found == Peak(73, {"loop": 3, "loop/": 70})


def test_what_is_wanted_in_the_end_is_never_freed():
    each = [Operation(f"{i}", makes=((i, 10),), after=(f"{i - 1}",) * (i > 0)) for i in range(4)]
    assert peak(each).total_bytes == 10
    assert peak(each, results=range(4)).total_bytes == 40


def test_the_larger_of_both_orders_counts():
    # First come, both branches are begun; last come, one is finished before the other begins.
    branches = [
        Operation("a", makes=((0, 0),)),
        *(Operation(f"{i}", (0,), ((i, 100),)) for i in (1, 2)),
        *(Operation(f"{i}s", (i,), ((i + 2, 1),)) for i in (1, 2)),
        Operation("z", (3, 4), ((5, 1),)),
    ]
    assert peak(branches).total_bytes == 201
