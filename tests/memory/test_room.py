"""Whether a job fits, and the largest batch that does."""

import pytest

from tests.memory.test_tasks import SHAPE, STEP
from tfdist.memory.room import Room, most_rows
from tfdist.memory.tasks import STRATEGIES, tasks


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("room", [Room(2e4), Room(1e4, 3e3)])
def test_the_most_rows_fit_and_one_more_does_not(strategy, room):
    most = most_rows(STEP, strategy, room, SHAPE)
    assert most > 0
    assert all(map(room.has, tasks(STEP, strategy, most, SHAPE)))
    assert not all(map(room.has, tasks(STEP, strategy, most + 1, SHAPE)))


def test_nothing_fits_where_there_is_no_room():
    assert most_rows(STEP, "mirrored", Room(50), SHAPE) == 0
