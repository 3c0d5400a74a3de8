"""What becomes of a run whose loss is not a number?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

import keras
import tensorflow as tf

from tfdist.checkpoint.callback import Checkpoint, GoBackError
from tfdist.checkpoint.leaving import LeftOut
from tfdist.checkpoint.say import say
from tfdist.errors import FailedError, StartAgainError, UsageError
from tfdist.factory.context import last
from tfdist.training import internals
from tfdist.training.between import BetweenCalls

_MOST = 20  # batches left out: with more, something else is wrong


class Finite(BetweenCalls):
    """Ends training where loss, gradient or a weight is not a number, before that is saved.

    With loss scaling, whose optimizer leaves out such steps by itself, only weights are looked at.

    Args:
        saves: What saves the run; None when nothing does.
        rollback: Raise GoBackError instead of FailedError, and leave that batch out from then on.
        kept: Where it is kept what is left out: StartAgainError is raised instead of GoBackError,
            since only a new process reads a dataset of any kind as this one did.
    """

    def __init__(
        self, saves: Checkpoint | None, rollback: bool = False, kept: LeftOut | None = None
    ) -> None:
        super().__init__()
        self._kept = kept
        self._saves, self._rollback = saves, rollback
        self._left_out: set[tuple[int, int]] = set()  # epoch and step in it, from 0
        self._faults: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Watch the losses from now on.

        Raises:
            UsageError: what each worker has learned by itself would have to be taken back.
        """
        if self._rollback and self.engine.trains_apart:
            raise UsageError(
                'on_nan="rollback" needs one step of all workers, and they train apart here: give '
                '"stop", or no sync_period'
            )
        scaled = isinstance(self.model.optimizer, keras.optimizers.LossScaleOptimizer)
        self._faults = None if scaled else self.engine.watch_losses()

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Count steps from the one that comes first."""
        if self._kept is not None:
            self._left_out |= self._kept.read()
        start = None if self._saves is None else self._saves.start
        self._epoch = epoch
        self._done = start[1] if start is not None and start[0] == epoch else 0
        self._count(self._done)

    @property
    def leaves_out(self) -> bool:
        """Whether there are batches to leave out."""
        return bool(self._left_out)

    def leave_out(self, done: int) -> int:
        """Leave out the batch that comes next, if it was found to be bad."""
        out = int((self._epoch, done) in self._left_out)
        if out:
            self._look()
            self._count(done + 1)
        return out

    def limit(self, done: int) -> int:
        """Return the steps until a batch is to be left out."""
        left = (step - done for epoch, step in self._left_out if epoch == self._epoch)
        return min((each for each in left if each > 0), default=super().limit(done))

    def pause(self, kind: str, done: int) -> None:
        """Look at the losses of the steps since the last call."""
        if kind == "train":
            self._done = done
            self._look()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Look at what is computed only now."""
        self.engine.settle()
        self._look()

    def settled(self) -> None:
        """Look at the losses, and at the weights themselves."""
        self._look()
        for weight in self.model.trainable_weights:
            if bool(tf.reduce_any(tf.math.is_nan(tf.convert_to_tensor(internals.raw(weight))))):
                self._found(max(self._done - 1, 0), f"{weight.path} has values that are")

    def get_state(self) -> dict[str, Any]:
        """Return what is left out, for a run that is started again."""
        return {"left_out": sorted(self._left_out)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Leave that out too."""
        self._left_out |= {(epoch, step) for epoch, step in state["left_out"]}

    def _count(self, step: int) -> None:
        if self._faults is not None:
            self._faults.begin(step)

    def _look(self) -> None:
        found = None if self._faults is None else self._faults.found()
        if found is not None:
            step, replicas = found
            self._found(step, f"the loss or gradient{_of(replicas)} is")

    def _found(self, step: int, what: str) -> NoReturn:
        where = f"{what} not a number in step {step + 1} of epoch {self._epoch + 1}"
        whole = None if self._saves is None else self._saves.writer.whole
        kept = "nothing is saved" if whole is None else f"the last whole checkpoint is {whole}"
        if not self._rollback:
            raise FailedError(
                f"{where}; {kept}: look at that batch, give a lower learning rate, or "
                "on_nan=rollback to leave it out"
            )
        while (self._epoch, step) in self._left_out and step:  # one before it was the cause
            step -= 1
        if len(self._left_out) >= _MOST:
            raise FailedError(
                f"{where}, after {_MOST} batches were left out; {kept}: something else is wrong"
            )
        self._left_out.add((self._epoch, step))
        if self._kept is not None:
            if self.engine.is_chief:
                self._kept.write(self._left_out)
            raise StartAgainError(
                f"{where}; {kept}: start the job again, which goes on there and leaves out batch "
                f"{step + 1}"
            )
        if self.engine.is_chief:
            say(f"{where}; {kept}: goes back there and leaves out batch {step + 1}")
        raise GoBackError


def _of(replicas: list[int]) -> str:
    """Tell whose loss it was, where several tasks or replicas compute a step.

    More than one is named where numbers pass from one to another before the loss, as those of a
    synchronized BatchNormalization do.
    """
    context = last()
    if context is None or context.num_replicas == 1:
        return ""
    workers = context.cluster.workers
    if context.cluster.has_ps or len(workers) == 1:
        return f" of {_listed(f'replica {each}' for each in replicas)}"
    of = (str(workers[each * len(workers) // context.num_replicas]) for each in replicas)
    return f" of {_listed(of)}"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(names))
