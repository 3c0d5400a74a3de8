"""`tfdist.Trace`: what TensorFlow did in some steps, for TensorBoard's profiler."""

from __future__ import annotations

import os
from typing import Any

import tensorflow as tf

from tfdist.progress import folder
from tfdist.progress.observer import Observer


class Trace(Observer):
    """Traces the steps from `first` up to, not including, `end`; counted over the whole run.

    TensorFlow's profiler writes what each thread and device did, the exchange between tasks too;
    TensorBoard shows it with the package tensorboard-plugin-profile.

    Args:
        log_dir: Of TensorBoard.
        first: Steps before the trace begins; not 0 leaves out the making of the step.
        end: Steps done when it ends.
        all_tasks: Whether every task is traced, or the chief alone.
    """

    def __init__(
        self, log_dir: str | os.PathLike, first: int, end: int, all_tasks: bool = False
    ) -> None:
        super().__init__()
        self._log_dir, self._first, self._end = log_dir, first, end
        self._all_tasks = all_tasks
        self._is_on = False

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Begin, if no step comes before."""
        super().on_epoch_begin(epoch, logs)
        self._act()

    def limit(self, done: int) -> int:
        """Return the steps up to where the trace begins or ends."""
        step = (self._before or 0) + done
        ahead = [at - step for at in (self._first, self._end) if at > step]
        return ahead[0] if ahead else super().limit(done)

    def pause(self, kind: str, done: int) -> None:
        """Begin or end when it is time."""
        super().pause(kind, done)
        if kind == "train":
            self._act()

    def on_train_end(self, logs: Any = None) -> None:
        """End with training."""
        super().on_train_end(logs)
        self._stop()

    def _act(self) -> None:
        if not (self._all_tasks or self.engine.is_chief):
            return
        if self._is_on and self.step >= self._end:
            self._stop()
        if not self._is_on and self._first <= self.step < self._end:
            self.engine.settle()
            tf.profiler.experimental.start(str(folder.of_task(self._log_dir)))
            self._is_on = True

    def _stop(self) -> None:
        if self._is_on:
            self.engine.settle()
            tf.profiler.experimental.stop()
            self._is_on = False
