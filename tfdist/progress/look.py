"""A look at a run under way: where it is, how fast, and what it has measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import keras

from tfdist.training import internals


@dataclass(frozen=True)
class Look:
    """What there is to see of a run at one moment.

    Attributes:
        step: Steps of the whole run so far.
        epoch: The number of this epoch, from 1.
        epochs: How many there will be.
        step_in_epoch: Steps of this epoch so far.
        steps_per_epoch: Its length, None when it is not known.
        logs: Loss and metrics of this epoch so far; after its end those of validation too.
        steps_per_second: Since the look before; None when nothing was measured.
        examples_per_second: Likewise; None where the model does not count its examples.
        input_share: The part of that time, 0 to 1, in which the step waited for the next batch.
    """

    step: int
    epoch: int
    epochs: int
    step_in_epoch: int
    steps_per_epoch: int | None
    logs: Mapping[str, float] = field(default_factory=dict)
    steps_per_second: float | None = None
    examples_per_second: float | None = None
    input_share: float | None = None


@dataclass
class Meter:
    """Measures rates between looks, only while the model trains."""

    engine: Any
    _since: tuple[float, float, float | None, int] | None = None

    def start(self, steps: int) -> None:
        """Measure from now on."""
        self._since = self._now(steps)

    def stop(self) -> None:
        """Measure nothing until it starts again."""
        self._since = None

    @property
    def runs(self) -> bool:
        """Whether it measures."""
        return self._since is not None

    def rates(self, steps: int) -> dict[str, float | None]:
        """Return the rates since it was started or last asked."""
        if self._since is None:
            return {}
        self.engine.settle()
        before, now = self._since, self._now(steps)
        seconds, waited, examples, done = (
            None if new is None or old is None else new - old
            for old, new in zip(before, now, strict=True)
        )
        self._since = now
        if not done or not seconds:
            return {}
        return {
            "steps_per_second": done / seconds,
            "examples_per_second": None if examples is None else examples / seconds,
            "input_share": min(1.0, (waited or 0.0) / seconds),
        }

    def _now(self, steps: int) -> tuple[float, float, float | None, int]:
        counted = internals.examples_counted(self.engine.model)
        return time.perf_counter(), self.engine.input_seconds, counted, steps


def learning_rate(model: keras.Model) -> float:
    """The learning rate of the next step."""
    return float(str(keras.ops.convert_to_numpy(model.optimizer.learning_rate)))
