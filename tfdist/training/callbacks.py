"""Keras callbacks, called when they ask to be: each batch only for those that look at batches."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf

from tfdist.cluster.pulse import PULSE
from tfdist.training.between import BetweenCalls

_MANY = 1 << 30
_BAR_SECONDS = 0.25  # how often a progress bar is drawn
# Each makes a callback for every call of this process, in all tasks alike: a notebook watches so.
WATCHING: list[Callable[[], BetweenCalls]] = []
_EVERY_BATCH = {
    "train": ("on_batch_begin", "on_batch_end", "on_train_batch_begin", "on_train_batch_end"),
    "test": ("on_test_batch_begin", "on_test_batch_end"),
}


class LazyLogs(dict):
    """Logs that are fetched when somebody looks at them."""

    def __init__(self, fetch: Callable[[], dict]) -> None:
        super().__init__()
        self._fetch: Callable[[], dict] | None = fetch

    def _now(self) -> dict:
        if self._fetch is not None:
            fetch, self._fetch = self._fetch, None
            super().update(fetch())
        return self

    def __getitem__(self, key: str) -> Any:
        self._now()
        return super().__getitem__(key)

    def __iter__(self) -> Iterator:
        self._now()
        return super().__iter__()

    def __len__(self) -> int:
        self._now()
        return super().__len__()

    def __contains__(self, key: object) -> bool:
        self._now()
        return super().__contains__(key)

    def __repr__(self) -> str:
        self._now()
        return super().__repr__()

    def get(self, key: str, default: Any = None) -> Any:
        """Return a log by name."""
        self._now()
        return super().get(key, default)

    def keys(self) -> Any:
        """Return the names."""
        self._now()
        return super().keys()

    def values(self) -> Any:
        """Return the values."""
        self._now()
        return super().values()

    def items(self) -> Any:
        """Return names and values."""
        self._now()
        return super().items()

    def copy(self) -> dict:
        """Return a plain copy."""
        return dict(self.items())


class Callbacks:
    """The callbacks of one call to fit, evaluate or predict.

    Args:
        engine: Whose model they are told of.
        callbacks: As given to Keras, or the Callbacks of the fit that evaluates.
        verbose: As in Keras; "auto" draws a bar on a terminal and else a line per epoch. Only the
            chief prints.
        epochs: Epochs, for the bar.
        steps: Steps of an epoch, None when unknown.
    """

    def __init__(
        self, engine: Any, callbacks: Any, *, verbose: Any, epochs: int, steps: int | None
    ) -> None:
        self._engine = engine
        verbose = verbosity(verbose) if engine.is_chief else 0
        self._drawn = 0.0
        self._epoch = 1
        if isinstance(callbacks, keras.callbacks.CallbackList):
            self._list = callbacks
            return
        given = list(_with_what_they_bring(tf.nest.flatten(callbacks) if callbacks else []))
        self._list = keras.callbacks.CallbackList(
            [*(given if engine.is_chief else _without_writers(given)), *(w() for w in WATCHING)],
            add_history=True,
            add_progbar=verbose != 0,
            verbose=verbose,
            epochs=epochs,
            steps=steps,
            model=engine.model,
        )
        self._list.callbacks.sort(key=lambda callback: isinstance(callback, BetweenCalls))
        for callback in self._between:
            callback.engine, callback.all = engine, self._list.callbacks

    @property
    def _between(self) -> list[BetweenCalls]:
        return [c for c in self._list.callbacks if isinstance(c, BetweenCalls)]

    def start(self, epoch: int) -> tuple[int, int, bool]:
        """Return the epoch and the step in it to begin with, and whether data is to be skipped."""
        for each in self._between:
            if each.start is not None:
                return *each.start, each.skips_data
        return self._engine.model._initial_epoch or epoch, 0, False

    def leave_out(self, kind: str, done: int) -> int:
        """Return how many batches are left out now."""
        return sum(each.leave_out(done) for each in self._between if kind == "train")

    def limit(self, kind: str, done: int) -> int:
        """Return how many steps may follow before a callback between calls is told."""
        limits = [each.limit(done) for each in self._between if kind == "train"]
        return min(limits, default=_MANY)

    def pause(self, kind: str, done: int) -> None:
        """Tell the callbacks between calls of the steps done."""
        with PULSE.doing("is in a callback between steps"):
            for each in self._between:
                each.pause(kind, done)

    @contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Let callbacks undo what they set up when an error ends training."""
        try:
            yield
        except BaseException:
            for each in self._between:
                each.on_train_failed()
            raise

    def on_epoch_begin(self, epoch: int) -> None:
        """Tell all callbacks that an epoch begins."""
        self._epoch = epoch + 1
        self.reach("train", 0)
        with PULSE.doing("is in its callbacks (on_epoch_begin)"):
            self._list.on_epoch_begin(epoch)

    def reach(self, kind: str, done: int, ended: bool = False) -> None:
        """Let the other tasks know how far training has come, and whether its data has ended."""
        if kind == "train":
            at = f"the end of its data, step {done}" if ended else f"step {done}"
            PULSE.reach(f"{at} of epoch {self._epoch}")

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._list, name)

        def told(*args: Any) -> None:
            with PULSE.doing(f"is in its callbacks ({name})"):
                call(*args)

        return told if name.startswith("on_") else call

    def every(self, kind: str) -> int | None:
        """Return after how many steps a callback wants to be called, None when none wants it."""
        wants = any(_wants_batches(c, kind) for c in self._list.callbacks)
        if not wants:
            return None
        # Batches are left out one by one, wherever a step of many would have them.
        alone = any(each.leaves_out for each in self._between)
        return 1 if alone else self._engine.model.steps_per_execution

    def batch_begin(self, kind: str, step: int) -> None:
        """Call the callbacks that look at batches before a step."""
        with PULSE.doing(f"is in its callbacks (on_{kind}_batch_begin)"):
            for callback in self._list.callbacks:
                if _wants_batches(callback, kind):
                    getattr(callback, f"on_{kind}_batch_begin")(step, logs={})

    def batch_end(self, kind: str, step: int) -> None:
        """Call the callbacks that look at batches after a step."""
        logs = LazyLogs(lambda: self._engine.logs(kind))
        with PULSE.doing(f"is in its callbacks (on_{kind}_batch_end)"):
            for callback in self._list.callbacks:
                if _wants_batches(callback, kind):
                    getattr(callback, f"on_{kind}_batch_end")(step, logs=logs)

    def tick(self, kind: str, step: int) -> None:
        """Draw the bar when it is time to."""
        bar = self._list._progbar
        now = time.monotonic()
        if bar is not None and (kind == "train" or not bar._called_in_fit):
            bar.seen = step + 1  # all that a line an epoch needs to know of data of unknown length
        if bar is None or bar.verbose != 1 or now - self._drawn < _BAR_SECONDS:
            return
        self._drawn = now
        logs = LazyLogs(lambda: self._engine.logs(kind))
        getattr(bar, f"on_{kind}_batch_end")(step, logs)


def _with_what_they_bring(callbacks: list) -> Iterator[Any]:
    for each in callbacks:
        yield from getattr(each, "brings", ())
        yield each


def _without_writers(callbacks: list) -> list:
    """Return the callbacks of a task that is not the chief: one task of a job writes files.

    What also reads at the start stays, so that every task begins with the same weights.
    """
    kept = []
    for callback in callbacks:
        if isinstance(callback, (keras.callbacks.CSVLogger, keras.callbacks.TensorBoard)):
            continue
        if _is_of_mlflow(callback):
            continue
        if isinstance(
            callback, (keras.callbacks.ModelCheckpoint, keras.callbacks.BackupAndRestore)
        ):
            callback._save_model = lambda *args, **kwargs: None
            callback.delete_checkpoint = False
        kept.append(callback)
    return kept


def _is_of_mlflow(callback: Any) -> bool:
    return type(callback).__module__.startswith("mlflow.")  # which need not be installed


def verbosity(verbose: Any) -> int:
    """Return what is shown: 0 nothing, 1 a bar, 2 a line an epoch; "auto" looks for a terminal."""
    if verbose == "auto":
        return 1 if sys.stdout.isatty() else 2
    return verbose


def _wants_batches(callback: Any, kind: str) -> bool:
    if isinstance(callback, keras.callbacks.ProgbarLogger):
        return False
    if getattr(callback, "save_freq", None) == "epoch":
        return False
    if _is_of_mlflow(callback) and getattr(callback, "log_every_epoch", False):
        return False
    base = keras.callbacks.Callback
    return any(
        getattr(getattr(callback, name), "__func__", None) is not getattr(base, name)
        for name in _EVERY_BATCH[kind]
    )
