"""`tfdist.Board`: what TensorBoard shows of a run, also while it goes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import psutil
import tensorflow as tf

from tfdist.checkpoint.callback import Checkpoint
from tfdist.progress import folder, graph
from tfdist.progress.look import Look, learning_rate
from tfdist.progress.needs import need
from tfdist.progress.observer import Observer
from tfdist.training import internals

_SECONDS = 5.0
_GIB = 2**30


class Board(Observer):
    """Writes scalars and texts for TensorBoard, from the chief into a folder of its own.

    Loss and metrics (of the epoch so far), learning rate, examples and steps per second, the share
    of the time in which steps waited for input, memory, and the seconds of each checkpoint. The
    other share is computing and exchange together: TensorFlow runs both as one program, and only a
    trace (`tfdist.Trace`) tells them apart.

    Args:
        log_dir: Of TensorBoard; made when it is not there.
        every_steps: Steps from one point to the next; None for one every few seconds.
        all_tasks: Whether the other tasks write too, each into a folder of its own.
        graph: Whether to write the graph of the training step too, once.

    Raises:
        UsageError: TensorBoard is not installed, or a number is wrong.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike,
        every_steps: int | None = None,
        all_tasks: bool = False,
        graph: bool = False,
    ) -> None:
        need("tensorboard", extra="tensorboard", purpose="log_dir")
        super().__init__(every_steps, _SECONDS if every_steps is None else None)
        self._log_dir = log_dir
        self._all_tasks = all_tasks
        self._wants_graph = graph
        self._texts: dict[str, str] = {}
        self._writer: Any = None
        self._saves = 0

    def text(self, name: str, values: Mapping[str, Any]) -> None:
        """Show some values as a table, once there is something to show or at once if there is."""
        rows = [f"| {key} | {value} |" for key, value in values.items()]
        self._texts[name] = "\n".join(["| name | value |", "|---|---|", *rows])
        if self._writer is not None:
            self._write_texts()

    def on_train_begin(self, logs: Any = None) -> None:
        """Open the folder of this task."""
        super().on_train_begin(logs)
        if self._writer is None and (self._all_tasks or self.engine.is_chief):
            with internals.outside_strategy(), tf.device("CPU:0"):
                self._writer = tf.summary.create_file_writer(str(folder.of_task(self._log_dir)))
            self._write_texts()

    def see(self, look: Look) -> None:
        """Write a point of each curve."""
        self._write(
            look.step,
            {
                **{f"train/{name}": value for name, value in look.logs.items()},
                **self._measured(look),
            },
        )

    def see_epoch(self, look: Look) -> None:
        """Write a point of each curve, those of validation too."""
        found = {}
        for name, value in look.logs.items():
            kind, plain = ("validation", name[4:]) if name.startswith("val_") else ("epoch", name)
            found[f"{kind}/{plain}"] = value
        self._write(look.step, {**found, **self._measured(look)})

    def on_train_end(self, logs: Any = None) -> None:
        """Leave all of it on disk."""
        super().on_train_end(logs)
        self._write(self.step, self._saved())

    def _measured(self, look: Look) -> dict[str, Any]:
        return {
            "learning_rate": None if self.model.optimizer is None else learning_rate(self.model),
            "speed/examples_per_second": look.examples_per_second,
            "speed/steps_per_second": look.steps_per_second,
            "share/input": look.input_share,
            "share/computing_and_exchange": None
            if look.input_share is None
            else 1 - look.input_share,
            "memory/process_gib": psutil.Process().memory_info().rss / _GIB,
            **_device_memory(),
            **self._saved(),
        }

    def _saved(self) -> dict[str, float]:
        """The time of the last save, if there was one since the point before."""
        seconds = [s for each in self.all if isinstance(each, Checkpoint) for s in each.seconds]
        fresh, self._saves = seconds[self._saves :], len(seconds)
        return {"checkpoint/save_seconds": fresh[-1]} if fresh else {}

    def _write(self, step: int, values: Mapping[str, Any]) -> None:
        if self._writer is None:
            return
        with internals.outside_strategy(), tf.device("CPU:0"), self._writer.as_default(step):
            for name, value in values.items():
                if isinstance(value, (int, float)):
                    tf.summary.scalar(name, value)
            if self._wants_graph and self.engine.traced is not None:
                tf.summary.graph(graph.of_step(self.engine.traced))
                self._wants_graph = False
            self._writer.flush()

    def _write_texts(self) -> None:
        with internals.outside_strategy(), tf.device("CPU:0"), self._writer.as_default(0):
            for name, text in self._texts.items():
                tf.summary.text(name, text)
            self._writer.flush()
        self._texts.clear()


def _device_memory() -> dict[str, float]:
    """The most that each GPU has held, in GiB."""
    gpus = [
        each.name.removeprefix("/physical_device:")
        for each in tf.config.list_physical_devices("GPU")
    ]
    return {
        f"memory/{name}_peak_gib": tf.config.experimental.get_memory_info(name)["peak"] / _GIB
        for name in gpus
    }
