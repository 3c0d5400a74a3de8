"""What is in a checkpoint: the files, the manifest, and how they become a run's state again."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.checkpoint import memory, variables
from tfdist.checkpoint.places import Place
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.storage import write
from tfdist.factory.context import last

_FORMAT = 1
_STATE, _CALLBACKS = "state.npz", "callbacks.json"


@dataclass
class Content:
    """A copy of a run's state at a position."""

    position: Position
    values: list[variables.Value]
    states: dict[str, Any]
    arrays: list[np.ndarray]

    def write(self, folder: Place, facts: dict[str, Any]) -> None:
        """Write it to a folder of checkpoints, with facts for its manifest.

        Raises:
            OSError: it could not be written; what was there before is whole.
        """
        callbacks = {f"callback {i:05d}": array for i, array in enumerate(self.arrays)}
        arrays: Any = variables.keys(self.values) | callbacks
        files = {
            _STATE: lambda file: np.savez(file, **arrays),
            _CALLBACKS: lambda file: file.write(json.dumps(self.states, indent=1).encode()),
        }
        write(folder, self.position.name, files, self._manifest() | facts)

    def _manifest(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "step": self.position.step,
            "epoch": self.position.epoch,
            "step_in_epoch": self.position.step_in_epoch,
            "end": self.position.end,
            **_surroundings(),
            "variables": [value.described for value in self.values],
        }


def copy(
    position: Position,
    model: keras.Model,
    callbacks: Sequence[Any],
    metrics: Sequence[variables.Value] | None,
) -> Content:
    """Copy a run's state; the state of its metrics is another's when an evaluation counts now."""
    values = variables.values(model)
    if metrics is not None:
        values = [v for v in values if v.kind != variables.METRICS] + list(metrics)
    return Content(position, values, *memory.recall(callbacks))


def read(path: Place, manifest: dict[str, Any]) -> Content:
    """Read a checkpoint whose checksums are right."""
    with (path / _STATE).open("rb") as opened, np.load(opened) as file:
        names = [name for name in file.files if name.startswith("callback ")]
        arrays = [file[name] for name in sorted(names)]
        values = variables.from_file(file, manifest["variables"])
    states = json.loads((path / _CALLBACKS).read_bytes())
    return Content(where(manifest), values, states, arrays)


def where(manifest: dict[str, Any]) -> Position:
    """Return the position that a manifest tells."""
    names = ("step", "epoch", "end", "step_in_epoch")
    return Position(*(manifest[name] for name in names))


def _surroundings() -> dict[str, Any]:
    versions = {
        "tfdist": tfdist.__version__,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    context = last()
    if context is None:
        return {"versions": versions}
    return {
        "versions": versions,
        "strategy": context.choice.name,
        "replicas": context.num_replicas,
        "cluster": {job: len(tasks) for job, tasks in context.cluster.jobs.items()},
        "seed": context.seed,
    }
