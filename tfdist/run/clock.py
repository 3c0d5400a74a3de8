"""How long did training take, apart from validation and from TensorFlow's making of the step?"""

import time
from typing import Any

import keras


class Clock(keras.callbacks.Callback):
    """Times the training part of each epoch, in seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch_seconds: list[float] = []
        self.seconds = 0.0
        self._began = self._epoch_began = 0.0
        self._trains = False

    def on_train_begin(self, logs: Any = None) -> None:
        """Note the time."""
        self._began = time.perf_counter()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Note the time."""
        self._epoch_began = time.perf_counter()
        self._trains = True

    def on_test_begin(self, logs: Any = None) -> None:
        """Validation begins: training of this epoch is over."""
        self._stop()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Training is over, if no validation said so before."""
        self._stop()

    def on_train_end(self, logs: Any = None) -> None:
        """Note how long all took."""
        self.seconds = time.perf_counter() - self._began

    def get_state(self) -> dict[str, Any]:
        """Return the times so far, for a run that is started again."""
        now = time.perf_counter()
        return {
            "epoch_seconds": list(self.epoch_seconds),
            "of_epoch": now - self._epoch_began if self._trains else 0.0,
            "seconds": now - self._began,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Count on from such times."""
        now = time.perf_counter()
        self.epoch_seconds = list(state["epoch_seconds"])
        self._epoch_began = now - state["of_epoch"]
        self._began = now - state["seconds"]

    @property
    def seconds_per_epoch(self) -> float:
        """The mean over all epochs but the first, in which the step is made, if there are more."""
        counted = self.epoch_seconds[1:] or self.epoch_seconds
        return sum(counted) / len(counted)

    def _stop(self) -> None:
        if self._trains:
            self._trains = False
            self.epoch_seconds.append(time.perf_counter() - self._epoch_began)
