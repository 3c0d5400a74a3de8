"""A group that goes on without hosts that do not come back."""

import pytest

from tfdist.cluster import Task
from tfdist.launch.fewer import Elastic, without
from tfdist.launch.group import Group
from tfdist.launch.hosts import Host
from tfdist.launch.process import LostHostError

A, B, C = (Host(name, name, ()) for name in "abc")
PLACES = {Task("worker", 0): A, Task("worker", 1): B, Task("worker", 2): C}


class Runs:
    """Stands for running a group on hosts some of which are down."""

    def __init__(self, places=PLACES, min_workers=1):
        self.down, self.groups, self.said = set(), [], []
        group = Group(["true"], places)
        self.once = Elastic(group, min_workers, self.run, self.said.append)

    def run(self, group):
        for host in group.places.values():
            if host in self.down:
                raise LostHostError(host, f"{host} cannot be reached")
        self.groups.append(group.places)
        return []


def test_with_fewer_and_with_all_again():
    runs = Runs()
    runs.once()
    runs.down = {A, C}
    runs.once()
    runs.down = set()
    runs.once()
    assert runs.groups == [PLACES, {Task("worker", 0): B}, PLACES]
    assert runs.said == [
        "a cannot be reached; goes on without it, 2 workers left",
        "c cannot be reached; goes on without it, 1 worker left",
    ]


@pytest.mark.parametrize(
    ("places", "min_workers", "down", "has_run"),
    [
        (PLACES, 2, {A, B}, True),
        (PLACES, None, {B}, True),
        (PLACES, 1, {B}, False),  # a host that never was there may be a mistyped name
        ({Task("chief", 0): A, Task("worker", 0): B}, 1, {A}, True),
    ],
)
def test_a_lost_host_is_an_error(places, min_workers, down, has_run):
    runs = Runs(places, min_workers)
    if has_run:
        runs.once()
    runs.down = down
    with pytest.raises(LostHostError):
        runs.once()


def test_other_jobs_keep_their_numbers():
    places = {Task("chief", 0): A, Task("worker", 0): B, Task("worker", 1): C, Task("ps", 0): A}
    left = without(Group([], places), {B}).places
    assert left == {Task("chief", 0): A, Task("worker", 0): C, Task("ps", 0): A}
