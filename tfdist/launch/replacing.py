"""Under parameter servers one of many workers may die: the others go on, and it comes back.

The chief has its steps run again on others, and takes it back at its old address.
"""

import time
from collections.abc import Callable, Sequence

from tfdist.errors import StartAgainError
from tfdist.launch.ended import Ended, describe, may_come_back
from tfdist.launch.process import Process
from tfdist.launch.restarts import Restarts


class Replacing:
    """Starts workers again, one by one, as long as the job has restarts left.

    Args:
        restarts: Those of the whole job.
        again: Starts a new process in the place of one that has ended.
        say: Called with a sentence about what happens.
    """

    def __init__(
        self,
        restarts: Restarts,
        again: Callable[[Process], Process],
        say: Callable[[str], None],
    ) -> None:
        self._restarts, self._again, self._say = restarts, again, say
        self._due: list[tuple[float, Process]] = []

    def go_on_without(self, process: Process, ended: Ended, running: Sequence[Process]) -> bool:
        """Whether the job goes on when a process has ended; if it can, a new one is due.

        The last worker is needed: all start again from a checkpoint, and no step is done twice.

        Args:
            process: Which one.
            ended: How.
            running: The others.
        """
        kinds = {each.task.type for each in running}
        is_one_of_many = ended.task.type == "worker" and {"chief", "ps", "worker"} <= kinds
        if not (is_one_of_many and may_come_back(ended)):
            return False
        what = f"{ended.task} on {ended.host} has died ({describe(ended)}); its steps are run again"
        if self._restarts.left:
            seconds = self._restarts.seconds
            self._due.append((time.monotonic() + seconds, process))
            self._say(f"{what}, and it is started again in {seconds:g} s")
        else:
            self._say(f"{what} on those that are left, as there is no restart left")
        return True

    def begin(self) -> list[Process]:
        """Start those that are due, if that can be."""
        begun: list[Process] = []
        for due in [each for each in self._due if time.monotonic() >= each[0]]:
            self._due.remove(due)
            if not self._restarts.left:  # another one has taken the last
                continue
            self._say(f"starting {due[1].task} again (restart {self._restarts.take()})")
            try:
                begun.append(self._again(due[1]))
            except StartAgainError as error:
                self._say(f"{error}; the others go on without it")
        return begun
