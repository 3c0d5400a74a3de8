"""Watches all tasks of a running job, and ends this one when another falls silent or behind.

Each task tells the chief, and the chief tells each, what it is doing. The chief judges, and its
verdict reaches the others; they judge the chief themselves. It runs in threads of its own, because
a main thread that waits inside TensorFlow hears nothing.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tfdist.cluster.channel import Channel
from tfdist.cluster.pulse import Pulse
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.cluster.verdict import Seen, limit_seconds, silence, told, verdict, waiting
from tfdist.errors import EXIT_AGAIN

_BEATS = 8  # in stall_seconds
# TensorFlow gives up a task that is silent for 10 s: three beats must be missed before.
_AT_MOST_SECONDS = 2.0
_MISSED = 3
# Only the chief sees all, so it must be the first to judge.
_CHIEF_FIRST_SECONDS = 2.0
# TensorFlow, too, learns of a task that is lost, and its error lets the script end in order.
_LOST_SECONDS = 10.0
_LAST_WORDS_SECONDS = 5.0


class Watchdog:
    """Watches from `start` on, until the job is over.

    Args:
        cluster: The tasks.
        channel: The line to them.
        pulse: What this process is doing.
        stall_seconds: For how long a task may be silent, or make others wait.
    """

    def __init__(
        self, cluster: Cluster, channel: Channel, pulse: Pulse, stall_seconds: float
    ) -> None:
        self._cluster = cluster
        self._channel = channel
        self._pulse = pulse
        self._stall_seconds = stall_seconds
        self._every_seconds = min(stall_seconds / _BEATS, _AT_MOST_SECONDS)
        self._missed_seconds = _MISSED * self._every_seconds
        self._later_seconds = max(_CHIEF_FIRST_SECONDS, stall_seconds / 4)
        now = time.monotonic()
        watched = cluster.members if cluster.is_chief else (cluster.chief,)
        self._heard: dict[Task, tuple[float, Mapping[str, Any]]] = {
            task: (now, Seen().beat) for task in watched
        }
        self._lost_at: float | None = None
        self._said_at = 0.0
        self._is_ending = threading.Lock()
        self._serving = frozenset(
            t for t in cluster.members if cluster.has_ps and t.type != "chief"
        )

    def start(self) -> Watchdog:
        """Watch from now on."""
        self._channel.listen("beat", self._hear)
        self._channel.listen("stop", lambda _, stop: self.end(stop["sentence"], stop["code"]))
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def hear_anew(self, task: Task) -> None:
        """Forget what a task said that was lost; another process has taken its place."""
        self._heard[task] = (time.monotonic(), Seen().beat)

    @property
    def suspect(self) -> str | None:
        """The task that has missed several beats, as a sentence; None when there is none."""
        return silence(self._seen(), self._missed_seconds, self._serving)

    def end(self, sentence: str, code: int = EXIT_AGAIN) -> None:
        """Say why, here and on the other tasks, show what Python was doing, and end all."""
        if not self._is_ending.acquire(blocking=False):
            return
        if self._cluster.is_chief:
            self._channel.tell("stop", {"sentence": sentence, "code": code})
        # Who holds a lock of the output may wait for ever: that must not keep us.
        last = threading.Timer(_LAST_WORDS_SECONDS, os._exit, (code,))
        last.daemon = True
        last.start()
        _write_last_words(f"{self._cluster.task} was busy with this when it was ended:", sentence)
        os._exit(code)

    def _watch(self) -> None:
        before = time.monotonic()
        while not self._channel.is_over:
            time.sleep(self._every_seconds)
            now = time.monotonic()
            if now - before > self._stall_seconds / 2 + self._every_seconds:
                self._begin_anew()  # this process itself was stopped, perhaps with all others
            before = now
            self._channel.tell("beat", self._pulse.beat())
            self._judge()

    def _judge(self) -> None:
        limit = self._stall_seconds + (0.0 if self._cluster.is_chief else self._later_seconds)
        tasks = self._seen()
        lost = self._channel.fatal
        if lost is not None:
            sentence = self._if_late(lost)
        else:
            sentence = verdict(tasks, limit, self._serving, self._missed_seconds)
        if sentence is not None and not self._channel.is_over:
            self.end(sentence)
        elif self._cluster.is_chief:
            self._say_who_waits(tasks)

    def _seen(self) -> dict[Task, Seen]:
        now, left = time.monotonic(), self._channel.left
        done_without = self._done_without()
        seen = {
            task: Seen(beat, now - at, task in left)
            for task, (at, beat) in list(self._heard.items())
            if task not in done_without
        }
        return {**seen, self._cluster.task: Seen(self._pulse.beat())}

    def _done_without(self) -> frozenset[Task]:
        """The tasks that nobody waits for: others compute their steps."""
        workers = {t for t in self._serving if t.type == "worker"}
        missing = frozenset(self._channel.missing)
        return missing if missing < workers else frozenset()

    def _if_late(self, lost: str) -> str | None:
        self._lost_at = self._lost_at or time.monotonic()
        patience = _LOST_SECONDS if self._pulse.is_together else self._stall_seconds
        is_late = time.monotonic() - self._lost_at > min(patience, self._stall_seconds)
        return lost if is_late else None

    def _say_who_waits(self, tasks: Mapping[Task, Seen]) -> None:
        waiter = waiting(tasks)
        waited = tasks[waiter].waited_seconds
        if waited < self._said_at:
            self._said_at = 0.0
        if waited - self._said_at < self._stall_seconds:
            return
        self._said_at = waited
        limit = limit_seconds(tasks, self._stall_seconds)
        sys.stderr.write(
            f"tfdist: {waiter} has waited {waited:.0f} of {limit:.0f} s for {told(waiter, tasks)}\n"
        )
        sys.stderr.flush()

    def _begin_anew(self) -> None:
        self._pulse.touch()
        now = time.monotonic()
        self._heard = {task: (now, beat) for task, (_, beat) in self._heard.items()}

    def _hear(self, task: Task, beat: Mapping[str, Any]) -> None:
        self._heard[task] = (time.monotonic(), beat)


def _write_last_words(heading: str, sentence: str) -> None:
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.write(f"tfdist: {heading}\n")
        sys.stderr.flush()
    with suppress(Exception):
        faulthandler.dump_traceback(sys.__stderr__ or 2)
    with suppress(Exception):
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()
