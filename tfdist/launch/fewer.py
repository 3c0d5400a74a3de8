"""Who takes part when a host does not come back?"""

from collections.abc import Callable, Collection
from dataclasses import replace

from tfdist.cluster import Task
from tfdist.launch.ended import Ended
from tfdist.launch.group import Group
from tfdist.launch.hosts import Host
from tfdist.launch.process import LostHostError


class Elastic:
    """Runs a group, from its first restart on without the hosts that cannot be reached.

    Each call tries all hosts again, so that one which came back takes part at the next restart.

    Args:
        group: All that takes part.
        min_workers: Below that many workers a lost host is an error; None: always.
        run: Runs a group.
        say: Called with a sentence about who takes part.
    """

    def __init__(
        self,
        group: Group,
        min_workers: int | None,
        run: Callable[[Group], list[Ended]],
        say: Callable[[str], None],
    ) -> None:
        self._group, self._run, self._say = group, run, say
        self._min_workers = min_workers
        self._has_run = False

    def __call__(self) -> list[Ended]:
        """Run the group once.

        Raises:
            StartAgainError: too few workers are left.
        """
        lost: set[Host] = set()
        while True:
            try:
                ended = self._run(without(self._group, lost))
            except LostHostError as error:
                lost.add(error.host)
                left = workers_of(without(self._group, lost))
                if not (self._may_go_on(lost) and len(left) >= (self._min_workers or 0)):
                    raise
                self._say(
                    f"{error}; goes on without it, {len(left)} worker{'s' * (len(left) > 1)} left"
                )
                continue
            self._has_run = True
            return ended

    def _may_go_on(self, lost: Collection[Host]) -> bool:
        """Whether only workers are lost, of a group that has run before."""
        gone = [task for task, host in self._group.places.items() if host in lost]
        asked = self._min_workers is not None and self._has_run
        return asked and all(task.type == "worker" for task in gone)


def without(group: Group, lost: Collection[Host]) -> Group:
    """Return a group without the workers on some hosts; those that are left are numbered anew."""
    places: dict[Task, Host] = {}
    for task, host in group.places.items():
        if host not in lost:
            number = sum(each.type == task.type for each in places)
            places[Task(task.type, number)] = host
    return replace(group, places=places)


def workers_of(group: Group) -> list[Task]:
    """Return the workers of a group."""
    return [task for task in group.places if task.type == "worker"]
