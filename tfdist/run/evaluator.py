"""A task beside the training that evaluates each checkpoint, and keeps the best model."""

import json
import sys
from typing import Any

import keras
import tensorflow as tf

import tfdist
from tfdist.checkpoint import exporting, variables
from tfdist.checkpoint.folder import better, positions
from tfdist.checkpoint.following import follow
from tfdist.checkpoint.places import Place, place
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.say import say
from tfdist.cluster import Cluster
from tfdist.data import load
from tfdist.data.batches import validation_batches
from tfdist.errors import UsageError
from tfdist.run import job
from tfdist.run.record import plain
from tfdist.run.settings import Settings

_BEST = "best"
_MEMORY = "evaluations.json"


def run(settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """Evaluate checkpoints until training has ended, and return the record of the best one.

    Raises:
        UsageError: there is no validation data, or the checkpoints are another model's.
        StartAgainError: no checkpoint came for a day.
    """
    folder = place(settings.checkpoint_dir or "")
    strategy = tfdist.strategy("one_device", settings.devices, cluster=cluster, seed=settings.seed)
    keras.config.set_dtype_policy(settings.precision)
    source = load(settings.dataset, settings.data_dir, settings.reading())
    batch = settings.global_batch(1)
    validation = validation_batches(source, batch, settings.augment(settings.seed))
    if validation is None:
        raise UsageError(
            f"{settings.dataset!r} has no validation part, so {cluster.task} has nothing to "
            "evaluate: give one that has, or start no evaluator"
        )
    model = job.model_of(settings, source, strategy)
    memory = Memory(folder, settings)
    for found in follow(folder, settings.epochs, memory.known, say):
        weights = [value for value in found.values if value.kind == variables.WEIGHT]
        where = str(folder / found.position.name)
        variables.restore(model, where, weights, metrics=False, only=variables.WEIGHT)
        values = model.evaluate(validation, verbose=0, return_dict=True)
        is_best = memory.note(found.position, {f"val_{k}": float(v) for k, v in values.items()})
        if is_best and settings.export_dir is not None:
            exporting.export(model, settings.export_dir, _BEST)
    return {"task": str(cluster.task), "evaluated": len(memory.values), **memory.best}


class Memory:
    """What was evaluated so far; kept in a file of its own, so that a restart goes on.

    Args:
        folder: Of the checkpoints.
        settings: Those of the run.
    """

    def __init__(self, folder: Place, settings: Settings) -> None:
        asked = settings.keep_best or ""
        self.metric = asked if asked.startswith("val_") else "val_loss"
        self._file = folder / _MEMORY
        self._board = _board(settings)
        self.values: dict[str, dict[str, float]] = {}
        # Those of a run that is put aside are not of this one.
        self.known = {p.name for p in positions(folder)} if settings.resume == "never" else set()
        if settings.resume != "never" and self._file.exists():
            self.values = json.loads(self._file.read_text())
            self.known = set(self.values)

    @property
    def best(self) -> dict[str, Any]:
        """The checkpoint that was best, and its values."""
        name = None
        for each in self.values:
            if name is None or better(self.metric, self._value(each), self._value(name)):
                name = each
        if name is None:
            return {}
        return {"checkpoint": name, **{k: plain(v) for k, v in self.values[name].items()}}

    def note(self, position: Position, values: dict[str, float]) -> bool:
        """Note what an evaluation found, show it, and return whether it is the best so far."""
        if self.metric not in values:
            raise UsageError(
                f"--keep_best is {self.metric!r}, and evaluation gives {', '.join(values)}: give "
                "one of these"
            )
        self.values[position.name] = values
        aside = self._file.with_name(f".{_MEMORY}")
        aside.write_text(json.dumps(self.values, indent=1))
        aside.rename(self._file)  # type: ignore[arg-type]
        if self._board is not None:
            with tf.device("CPU:0"), self._board.as_default(position.step):
                for name, value in values.items():
                    tf.summary.scalar(f"validation/{name.removeprefix('val_')}", value)
                self._board.flush()
        shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
        sys.stdout.write(f"evaluated after {position}: {shown}\n")
        sys.stdout.flush()
        return self.best["checkpoint"] == position.name

    def _value(self, name: str) -> float:
        return self.values[name][self.metric]


def _board(settings: Settings) -> Any:
    """Return what writes a run of its own for TensorBoard, with the names that training gives."""
    if settings.log_dir is None:
        return None
    return tf.summary.create_file_writer(str(place(settings.log_dir) / "evaluator-0"))
