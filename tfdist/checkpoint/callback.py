"""`tfdist.Checkpoint`: saves a run under way, and goes on where the last one was saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from tfdist.checkpoint import content, memory, together, variables
from tfdist.checkpoint.cadence import Cadence
from tfdist.checkpoint.places import place
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.say import say
from tfdist.checkpoint.signals import Watch
from tfdist.checkpoint.writer import Writer
from tfdist.errors import EXIT_AGAIN, FailedError, StartAgainError, UsageError
from tfdist.training.between import BetweenCalls

_RESUME = ("auto", "never")
_ON_NAN = ("ignore", "stop", "rollback")


class GoBackError(Exception):
    """`fit` is to be called again, and goes on from the last checkpoint."""


_TELL = (UsageError, FailedError, StartAgainError, GoBackError)


class Checkpoint(BetweenCalls):
    """Saves a run's whole state, and goes on from it exactly, also in the middle of an epoch.

    One task, the chief, writes; every task reads, so they must share the folder. With neither
    steps, minutes nor epochs it saves after each epoch; after the last one it always does.
    SIGTERM or SIGUSR1 to any task makes all of them save at the same step and end with code 75.
    A run that had ended is not trained again: `fit` returns with its weights and its History.

    Args:
        directory: Of the checkpoints; it is made when it is not there. Also one of another file
            system that TensorFlow knows, such as gs://bucket/run.
        every_steps: Training steps from one to the next.
        every_minutes: Minutes from one to the next.
        every_epochs: Epochs from one to the next.
        keep: How many of the last ones are kept.
        keep_best: A metric, such as "val_loss": the checkpoint of its best epoch is kept too.
        resume: "auto" goes on from the last whole checkpoint; "never" moves those there are to a
            folder beside and begins.
        skips_data: Whether `fit` reads the data up to where training goes on. False when the
            dataset begins there by itself (see `position`).
        grace_seconds: From a signal to the end, whether all is saved or not.
        same: What must be the same when training goes on, by name, such as the batch size.
        beside: Write while training goes on, which then stands still for a copy of the weights. A
            save that is due before the last one is written is left out, but not with `keep_best`.
        at_begin: Save before the first step too.
        on_nan: What follows when a loss is not a number: "stop" ends training and says where;
            "rollback" ends it with code 75, and started again it goes on from the last checkpoint
            and leaves that batch out; "ignore" saves the model as it is.

    Raises:
        UsageError: a value is wrong; or, when training begins, no checkpoint is whole, or it is
            of another model.
    """

    def __init__(
        self,
        directory: str | os.PathLike,
        *,
        every_steps: int | None = None,
        every_minutes: float | None = None,
        every_epochs: int | None = None,
        keep: int = 3,
        keep_best: str | None = None,
        resume: str = "auto",
        skips_data: bool = True,
        grace_seconds: float = 25,
        same: Mapping[str, Any] | None = None,
        beside: bool = False,
        at_begin: bool = False,
        on_nan: str = "ignore",
    ) -> None:
        super().__init__()
        if keep < 1:
            raise UsageError(f"keep is {keep}, but must be 1 or more: give a larger number")
        if resume not in _RESUME:
            raise UsageError(f"resume is {resume!r}: give one of {', '.join(_RESUME)}")
        if on_nan not in _ON_NAN:
            raise UsageError(f"on_nan is {on_nan!r}: give one of {', '.join(_ON_NAN)}")
        self.skips_data = skips_data
        self._folder = place(directory)
        self._cadence = Cadence(every_steps, every_minutes, every_epochs)
        self._at_begin, self._keep_best = at_begin or on_nan == "rollback", keep_best
        self.writer = Writer(self._folder, keep, keep_best, beside, self._say)
        self._afresh = resume == "never"
        self._chosen: tuple[dict[str, Any] | None, list[str]] | None = None
        self.same = dict(same or {})
        self._watch = Watch(grace_seconds)
        self._trains = self._goes_back = False
        if on_nan != "ignore":
            from tfdist.checkpoint.finite import Finite
            from tfdist.checkpoint.leaving import LeftOut

            kept = LeftOut(self._folder) if on_nan == "rollback" else None
            self.brings = (Finite(self, rollback=on_nan == "rollback", kept=kept),)

    def before(self, epochs: int) -> Mapping[str, Any]:
        """Return what was `same` in the run that training for so many epochs goes on with."""
        manifest = self._choose(epochs)
        return {} if manifest is None else manifest["same"]

    def position(self, epochs: int) -> Position | None:
        """Return where training for so many epochs goes on, None when it begins.

        Every task of a job calls it, before `fit`, or none does.
        """
        manifest = self._choose(epochs)
        if manifest is not None:
            self._refuse_another(manifest)
        return None if manifest is None else content.where(manifest)

    @property
    def seconds(self) -> list[float]:
        """How long each save of this process took."""
        return self.writer.seconds

    def on_train_begin(self, logs: Any = None) -> None:
        """Go on where the last whole checkpoint was made."""
        if self.engine is None:
            raise UsageError(
                "Checkpoint was given to the fit() of a model that tfdist does not train: call "
                "tfdist.distribute(model) first"
            )
        self._epochs = self.params["epochs"]
        at = self.position(self._epochs) or Position(0, 0)
        manifest, self.writer.damaged = self._chosen or (None, [])
        self._chosen, self._afresh = None, False  # the next fit() looks again
        self._goes_back = False
        self._saved = None if manifest is None else at
        self.writer.whole = None if manifest is None else self._folder / at.name
        self._epoch, self._done = at.epoch, at.step_in_epoch
        self._steps_before = at.step - at.step_in_epoch  # of this epoch
        self._metrics: list[variables.Value] | None = None
        self._content: content.Content | None = None
        self.start = None
        if manifest is not None:
            self._go_on(manifest, at)
        self._cadence.saved(at.step)
        self._watch.start()
        self._trains = True

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Restore again in mid-epoch: the callbacks have begun that epoch a second time."""
        if self._content is not None and self._done:
            self._restore(self._content)
        self._content = None
        if self._at_begin and self._saved is None:
            self._save(Position(0, epoch), None)

    def limit(self, done: int) -> int:
        """Return the steps until a checkpoint is due by their number."""
        left = self._cadence.steps_left(self._steps_before + done)
        return super().limit(done) if left is None else left

    def pause(self, kind: str, done: int) -> None:
        """Save when it is due; save and end when a task was asked to."""
        if not self._trains:
            return
        due = False
        if kind == "train":
            self._done = done
            due = self._cadence.after_step(self._step)
        self._act(due, None)

    def on_test_begin(self, logs: Any = None) -> None:
        """Keep what the metrics counted in training: evaluation counts anew."""
        if self._trains:
            self.engine.settle()
            self._metrics = variables.values(self.model, (variables.METRICS,))

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Save when it is due; after the last epoch it is."""
        self._steps_before, self._done, self._epoch = self._step, 0, epoch + 1
        self._metrics = None
        last = epoch + 1 == self._epochs or self.model.stop_training
        self._act(last or self._cadence.after_epoch(epoch), logs, last)

    def on_train_end(self, logs: Any = None) -> None:
        """Save what training ended with: weights may have been averaged or brought back."""
        self._trains = False
        if self._saved is None or not self._saved.end:
            self._save(Position(self._step, self._epoch, end=True), logs)
        self.writer.wait()
        self._watch.stop()

    def on_train_failed(self) -> None:
        """Say what there is to go on from, unless the error itself does."""
        self._trains = False
        if self._watch.asked is None:  # else the signal is what ends training
            self._watch.stop()
        with suppress(UsageError):
            self.writer.wait()
        error = sys.exc_info()[1]
        self._goes_back = isinstance(error, GoBackError)
        tells = isinstance(error, (*_TELL, SystemExit))
        if self.engine.is_chief and not tells:
            say(f"training failed; the last whole checkpoint is {self.writer.whole or 'none'}")

    @property
    def _step(self) -> int:
        return self._steps_before + self._done

    def _choose(self, epochs: int) -> dict[str, Any] | None:
        if self._chosen is None:
            self._chosen = together.choose(self._folder, epochs, self._afresh)
            if self._goes_back and self._chosen[0] is None:
                raise FailedError(
                    f"there is no checkpoint to go back to: those in {self._folder} were removed; "
                    "start the training anew"
                )
        return self._chosen[0]

    def _go_on(self, manifest: dict[str, Any], at: Position) -> None:
        path = self._folder / at.name
        self._content = content.read(path, manifest)
        self._restore(self._content)
        # Stopped after an epoch: there is no epoch left, however many are asked for.
        stopped = manifest["stopped"] and not at.step_in_epoch
        self.model.stop_training = stopped
        first = max(at.epoch, self._epochs) if stopped or at.end else at.epoch
        self.start = (first, at.step_in_epoch)
        if self.engine.is_chief:
            say(f"training had ended: {path}" if at.end else f"goes on after {at}: {path}")

    def _refuse_another(self, manifest: dict[str, Any]) -> None:
        for name, value in self.same.items():
            before = manifest["same"].get(name, value)
            if before != value:
                raise UsageError(
                    f"{self._folder} is of a run with {name} {before}, and {value} was given: give "
                    f"{name} as before, or another folder"
                )

    def _restore(self, saved: content.Content) -> None:
        path = str(self._folder / saved.position.name)
        in_epoch = saved.position.step_in_epoch > 0
        variables.restore(self.model, path, saved.values, metrics=in_epoch)
        memory.remind(self._others, saved.states, saved.arrays)

    @property
    def _others(self) -> list[Any]:
        return [callback for callback in self.all if callback is not self]

    def _act(self, due: bool, logs: Any, last: bool = False) -> None:
        """Save when it is due, or when a task's clock or signal says so; all tasks do the same."""
        asked = self._watch.asked is not None
        now = self.engine.is_chief and self._cadence.is_time
        # Mostly neither is so: then one question to all is enough.
        if self.engine.agree_to_stop(asked or now):
            due, asked = True, self.engine.agree_to_stop(asked)
        if due:
            at = Position(self._step, self._epoch, step_in_epoch=self._done)
            self._save(at, logs, may_wait=asked or last)
        if asked:
            self._leave()

    def _save(self, at: Position, logs: Any, may_wait: bool = True) -> None:
        self.engine.settle()
        for each in self._others:
            if isinstance(each, BetweenCalls):
                each.settled()
        self._cadence.saved(at.step)
        if self._saved is not None and self._saved.name == at.name:
            return
        if not self.engine.is_chief:
            self.writer.whole = self._folder / at.name
        elif may_wait or self._keep_best or not self.writer.is_busy:
            self._write(at, logs)
        else:
            self._say(f"not saved after {at}: the save before is not yet written")
            return
        self._saved = at

    def _write(self, at: Position, logs: Any) -> None:
        facts = {
            "epochs": self._epochs,
            "same": self.same,
            "stopped": bool(self.model.stop_training),
            "logs": {k: v for k, v in (logs or {}).items() if isinstance(v, (int, float))},
        }
        self.writer.write(lambda: content.copy(at, self.model, self._others, self._metrics), facts)

    def _say(self, sentence: str) -> None:
        if self.params.get("verbose") != 0:
            say(sentence)

    def _leave(self) -> NoReturn:
        """End this process as it was asked to, once all tasks have saved."""
        self.writer.wait()
        if self.engine.is_chief:
            say(f"asked to end: saved after {self._saved}; start the job again.")
        together.part()
        raise SystemExit(EXIT_AGAIN)
