"""What callbacks see of the loop, and what they do to it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

import tfdist.factory.context
from tests.conformance import small
from tests.conformance.case import Case, Outcome, fit_evaluate


def _case(
    name: str,
    fit: Callable[[], dict] = dict,
    play: Callable[[keras.Model, Case], Outcome] = fit_evaluate,
    **compiled: Any,
) -> Case:
    def arguments() -> dict:
        made = {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}
        return made | compiled

    data = small.classes
    return Case(name, "loops", small.mlp, arguments, data, data, fit, play=play)


class EveryBatch(keras.callbacks.Callback):
    """Writes down what it is told after every batch, or every few."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[float]] = []

    def on_train_batch_end(self, batch: int, logs: dict) -> None:
        # Past the end of the data Keras goes on counting: 3, 7 for the batches 0 to 6.
        self.seen.append([min(batch, 6), logs["loss"], logs["accuracy"]])

    def on_test_batch_end(self, batch: int, logs: dict) -> None:
        self.seen.append([batch, logs["loss"], logs["accuracy"]])


class Order(keras.callbacks.Callback):
    """Writes down the order in which it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if not name.startswith("on_"):
            return value

        def called(*args: Any, **kwargs: Any) -> Any:
            number = [str(a) for a in args if isinstance(a, int)]
            self.seen.append(" ".join([name, *number]))
            return value(*args, **kwargs)

        return called


class StopAt(keras.callbacks.Callback):
    """Stops after a number of steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self.steps = steps

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        self.steps -= 1
        if not self.steps:
            self.model.stop_training = True


def _task(last: bool = False) -> bool:
    """Whether this is the first task of the job that trains, or the last one."""
    context = tfdist.factory.context.last()
    if context is None or context.cluster.rank is None:
        return True
    return context.cluster.rank == (context.num_workers - 1 if last else 0)


class OneStops(StopAt):
    """Only the last task asks to stop."""

    def on_train_batch_end(self, batch: int, logs: dict | None = None) -> None:
        if _task(last=True):
            super().on_train_batch_end(batch, logs)


class OneReads(keras.callbacks.Callback):
    """Only the first task reads metrics, variables and logs."""

    def on_train_batch_end(self, batch: int, logs: dict) -> None:
        if _task():
            assert logs["loss"] > 0
            assert float(self.model.get_metrics_result()["loss"]) > 0
            assert self.model.optimizer.iterations.numpy() > 0
            assert self.model.get_weights()


class OneSetsTheRate(keras.callbacks.Callback):
    """Only the first task changes the learning rate."""

    def on_epoch_end(self, epoch: int, logs: dict | None = None) -> None:
        if _task():
            self.model.optimizer.learning_rate = 0.05 / (2 + epoch)


def _validated(**kwargs: Any) -> dict:
    x, y = small.blobs()
    return {"validation_data": (x[:29], y[:29])} | kwargs


def _every_batch() -> dict:
    return _validated(callbacks=[EveryBatch()])


def _early() -> dict:
    stopping = keras.callbacks.EarlyStopping(
        "val_loss", min_delta=0.05, patience=1, restore_best_weights=True
    )
    return _validated(callbacks=[stopping], epochs=12)


def _schedule() -> dict:
    rates = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.7)
    return {"callbacks": [rates], "epochs": 4}


class LambdaSeen(keras.callbacks.LambdaCallback):
    """A LambdaCallback whose functions write to a list."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        super().__init__(
            on_epoch_end=lambda epoch, logs: self.seen.append(logs["loss"]),
            on_train_batch_end=lambda batch, logs: self.seen.append(logs["loss"]),
        )


def _checkpointing(model: keras.Model, case: Case) -> Outcome:
    """Keep the best model of each epoch, then read it back."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "best.keras"
        best = keras.callbacks.ModelCheckpoint(file, "val_loss", save_best_only=True)
        history = model.fit(
            **case.data(), **_validated(callbacks=[best], epochs=4), shuffle=False, verbose=0
        )
        saved = keras.saving.load_model(file) if file.exists() else None
    if saved is None:  # another task than the chief
        return Outcome(history.history)
    seen = {f"saved {i}": w for i, w in enumerate(saved.get_weights())}
    steps = int(saved.optimizer.iterations.numpy())
    return Outcome(history.history, seen=seen | {"saved iterations": steps})


CASES = (
    _case("callbacks see the logs of every batch", _every_batch),
    _case(
        "steps_per_execution with callbacks for each call",
        lambda: {"callbacks": [EveryBatch()]},
        steps_per_execution=4,
    ),
    _case("callbacks are called in Keras' order", lambda: _validated(callbacks=[Order()])),
    _case("EarlyStopping, restoring the best weights", _early),
    _case(
        "a callback stops in the middle of an epoch",
        lambda: {"callbacks": [StopAt(24)], "epochs": 5},
    ),
    _case("ModelCheckpoint", play=_checkpointing),
    _case("LambdaCallback", lambda: {"callbacks": [LambdaSeen()]}),
    _case("LearningRateScheduler", _schedule),
    _case("one task alone stops, for all", lambda: {"callbacks": [OneStops(24)], "epochs": 5}),
    _case("one task alone reads logs, metrics and weights", lambda: {"callbacks": [OneReads()]}),
    _case(
        "one task alone sets the rate, for all",
        lambda: {"callbacks": [OneSetsTheRate()], "epochs": 4},
    ),
)
