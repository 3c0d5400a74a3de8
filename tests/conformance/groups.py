"""Plays many cases in one group of processes, so that its start is paid for once."""

from __future__ import annotations

import pickle
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.record import Record
from tests.conformance.strategies import STRATEGIES
from tests.processes import Running, start_tasks

_LOOK_SECONDS = 0.1
_START_SECONDS = 240.0


class Group:
    """A group of processes that plays cases one after the other.

    A case that ends or hangs the processes has failed; new ones go on with the case after it.

    Args:
        strategy: A name of STRATEGIES; one that runs in one process has a group of one.
        names: The cases, in order.
        keras: Whether Keras' own fit plays them.
        case_seconds: The limit for a case; processes that start have more.
    """

    def __init__(
        self, strategy: str, names: Sequence[str], keras: bool = False, case_seconds: float = 240
    ) -> None:
        self._case_seconds = case_seconds
        self._played = STRATEGIES[strategy]
        self._arguments = ["--strategy", strategy, *(["--keras"] if keras else [])]
        self._records: dict[str, list[Record]] = {}
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._play, args=(list(names),), daemon=True)
        self._thread.start()

    def records(self, name: str, timeout_seconds: float) -> list[Record]:
        """Return what each task that trains recorded, the chief first; waits for it."""
        with self._changed:
            if not self._changed.wait_for(lambda: name in self._records, timeout_seconds):
                raise TimeoutError(f"{name!r} was not played in {timeout_seconds} s.")
            return self._records[name]

    def close(self) -> None:
        """End the processes."""
        self._stopped = True
        self._thread.join()

    def _play(self, names: list[str]) -> None:
        while names and not self._stopped:
            names = self._play_until_one_fails(names)

    def _play_until_one_fails(self, names: list[str]) -> list[str]:
        """Play the cases in new processes; return those behind the first that ended them."""
        with tempfile.TemporaryDirectory(prefix="tfdist-conformance-") as name:
            folder = Path(name)
            command = ["-m", "tests.conformance.run", "--out", name, "--cases", *names]
            with start_tasks(
                [*command, *self._arguments],
                workers=self._played.workers or 1,
                ps=self._played.ps,
                chief=self._played.chief,
                env={"CUDA_VISIBLE_DEVICES": "-1"},
            ) as running:
                for number, case in enumerate(names):
                    seconds = self._case_seconds + (0 if number else _START_SECONDS)
                    found = self._await(folder, case, running, seconds)
                    if found is None:
                        return []
                    self._keep(case, found)
                    if _spoil(found):
                        return names[number + 1 :]
        return []

    def _await(
        self, folder: Path, case: str, running: list[Running], seconds: float
    ) -> list[Record] | None:
        """Return the records of a case, or one that says how it ended; None when closed."""
        tasks = self._tasks()
        deadline = time.monotonic() + seconds
        while not self._stopped:
            ended = [task for task in running if task.process.poll() is not None]
            files = [folder / task / f"{case}.pickle" for task in tasks]
            if all(file.exists() for file in files):
                return [pickle.loads(file.read_bytes()) for file in files]
            if ended or time.monotonic() > deadline:
                return [Record(error=f"ended: {_told(ended or running)}")]
            time.sleep(_LOOK_SECONDS)
        return None

    def _tasks(self) -> list[str]:
        if self._played.chief:
            return ["chief-0"]
        return [f"worker-{i}" for i in range(self._played.workers or 1)]

    def _keep(self, case: str, found: list[Record]) -> None:
        with self._changed:
            self._records[case] = found
            self._changed.notify_all()


def _spoil(records: Sequence[Record]) -> bool:
    """Whether the processes are of no use after a case: a failed collective aborts all others."""
    errors = [record.error for record in records]
    fatal = any(
        word in error for error in errors for word in ("ended:", "ollective", "Unavailable")
    )
    return fatal or any(errors) != all(errors)


def _told(tasks: Sequence[Running]) -> str:
    """The last lines of the tasks that ended, or that all hang."""
    return " | ".join(
        f"{task.task} (code {task.process.poll()}): {' '.join(task.output()[1].split()[-60:])}"
        for task in tasks
    )
