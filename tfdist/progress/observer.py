"""The base of what looks at a run: when to look, without a call for each step."""

from __future__ import annotations

import time
from typing import Any

import keras

from tfdist.errors import UsageError
from tfdist.progress.look import Look, Meter
from tfdist.training.between import BetweenCalls


class Observer(BetweenCalls):
    """Looks at training every so many steps or seconds, and after each epoch.

    Between looks it costs nothing; a look costs what reading the metrics costs.

    Args:
        every_steps: Of the whole run, from one look to the next.
        every_seconds: Seconds, likewise; a look comes no sooner than the steps of a call end.

    Raises:
        UsageError: a number is not above 0.
    """

    def __init__(self, every_steps: int | None = None, every_seconds: float | None = None) -> None:
        super().__init__()
        for name, value in {"every_steps": every_steps, "every_seconds": every_seconds}.items():
            if value is not None and not value > 0:
                raise UsageError(f"{name} is {value}, but must be above 0: give a larger number")
        self._every_steps, self._every_seconds = every_steps, every_seconds
        self._trains = False
        self._rates: dict[str, float | None] = {}

    def see(self, look: Look) -> None:
        """Show a moment within an epoch."""

    def see_epoch(self, look: Look) -> None:
        """Show the end of an epoch."""

    def on_train_begin(self, logs: Any = None) -> None:
        """Refuse a model that plain Keras trains, which would call this for nothing."""
        if self.engine is None:
            raise UsageError(
                f"{type(self).__name__} was given to the fit() of a model that tfdist does not "
                "train: call tfdist.distribute(model) first"
            )
        self._meter = Meter(self.engine)
        self._before: int | None = None  # steps of the epochs before this one
        self._is_made, self._looked = False, time.monotonic()
        self._trains = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Find the step, also where training goes on in mid-epoch."""
        self._done = 0
        if self._before is None:
            starts = [each.start for each in self.all if isinstance(each, BetweenCalls)]
            self._done = next((start[1] for start in starts if start), 0)
            self._before = _iterations(self.model) - self._done
        self._epoch, self._rates = epoch, {}
        if self._is_made:
            self._meter.start(self.step)

    def limit(self, done: int) -> int:
        """Return the steps until the next look that is due by their number."""
        if self._every_steps is None:
            return super().limit(done)
        return self._every_steps - ((self._before or 0) + done) % self._every_steps

    def pause(self, kind: str, done: int) -> None:
        """Look when it is due."""
        if kind != "train" or not self._trains:
            return
        self._done = done
        if not self._is_made:  # the first call made the step, which says nothing of its speed
            self._is_made, self._looked = True, time.monotonic()
            self._meter.start(self.step)
        if self._is_due():
            self._looked = time.monotonic()
            self._rates = self._meter.rates(self.step)
            self.see(self._look(self.engine.logs("train")))

    def on_test_begin(self, logs: Any = None) -> None:
        """Validation begins: training of this epoch is over."""
        self._end_of_training()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look at the whole epoch."""
        self._end_of_training()
        self.see_epoch(self._look(logs or {}))
        self._before, self._done = self.step, 0

    def on_train_end(self, logs: Any = None) -> None:
        """Look no more."""
        self._trains = False

    @property
    def step(self) -> int:
        """Steps of the whole run so far."""
        return (self._before or 0) + self._done

    def _is_due(self) -> bool:
        if self._every_steps is not None and self.step % self._every_steps == 0:
            return True
        if self._every_seconds is None:
            return False
        return time.monotonic() - self._looked >= self._every_seconds

    def _end_of_training(self) -> None:
        if self._trains and self._meter.runs:
            self._rates = self._meter.rates(self.step) or self._rates
            self._meter.stop()

    def _look(self, logs: Any) -> Look:
        return Look(
            step=self.step,
            epoch=self._epoch + 1,
            epochs=self.params["epochs"],
            step_in_epoch=self._done,
            steps_per_epoch=self.params["steps"],
            logs=dict(logs),
            **self._rates,
        )


def _iterations(model: keras.Model) -> int:
    return 0 if model.optimizer is None else int(model.optimizer.iterations.numpy())
