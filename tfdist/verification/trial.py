"""One training of the model under test: on one device or under the strategy."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training import distribute, internals
from tfdist.training.engine import symbolic
from tfdist.training.replica import is_own
from tfdist.verification.batches import Batches, in_double_precision
from tfdist.verification.chance import without_chance
from tfdist.verification.globals import double_precision, same_names
from tfdist.verification.gradient import record
from tfdist.verification.outcome import (
    Outcome,
    local_normalizations,
    number,
    outcome,
    shared_seeds,
    state_of,
)
from tfdist.verification.tasks import Tasks

Start = Sequence[np.ndarray]  # the state of a model before it trains


@dataclass(frozen=True)
class Mode:
    """What a training leaves out or does otherwise.

    Attributes:
        without_chance: Random numbers of layers are constants.
        synchronized: Batch normalization takes the statistics of the whole batch.
        one_by_one: Each step waits for the one before.
        reverse: Rows of each batch come in reverse, and TensorFlow's random numbers are others.
        exact: In double precision.
        recorded: "even" or "last": steps that only record the gradient, with batches that the
            replicas share evenly, or with the last one.
    """

    without_chance: bool = False
    synchronized: bool = False
    one_by_one: bool = False
    reverse: bool = False
    exact: bool = False
    recorded: str = ""


@dataclass(frozen=True)
class Trial:
    """The model under test and its batches; trains it as often as asked.

    Attributes: as the arguments of `tfdist.verify`.
    """

    build: Callable[[], keras.Model]
    compile: Callable[[keras.Model], Any] | None
    batches: Batches
    seed: int
    strategy: tf.distribute.Strategy
    tasks: Tasks
    _seen: weakref.WeakSet = field(default_factory=weakref.WeakSet)

    def on_one_device(self, mode: Mode, start: Start | None = None) -> tuple[Outcome, Start]:
        """Train with plain Keras on one device; return what came of it, and how it started."""
        with self._prepared(mode):
            model = self._make(None)
            if start is not None:
                _set(state_of(model), start)
            start = [number(v) for v in state_of(model)]
            return self._train(model, mode), start

    def under_strategy(self, mode: Mode, start: Start) -> Outcome:
        """Train under the strategy, from the same start."""
        with self._prepared(mode):
            model = self._make(self.strategy)
            _set(state_of(model), start)
            return self._train(model, mode)

    @contextlib.contextmanager
    def _prepared(self, mode: Mode) -> Iterator[None]:
        with (
            internals.outside_strategy(),
            without_chance(mode.without_chance),
            double_precision(mode.exact),
            same_names(),
        ):
            keras.utils.set_random_seed(self.seed)
            yield

    def _make(self, strategy: tf.distribute.Strategy | None) -> keras.Model:
        scope = contextlib.nullcontext() if strategy is None else strategy.scope()
        with scope:
            model = self._checked(self.build())
            if strategy is not None:
                distribute(model)
            if not model.compiled:
                self._compile(model)
            if not model.built and type(model).call is not keras.Model.call:
                x = internals.unpack(symbolic(self.batches.element_spec))[0]
                internals.output_spec(model, x)
        return model

    def _checked(self, model: Any) -> keras.Model:
        if not isinstance(model, keras.Model):
            raise UsageError(
                f"build() returned {type(model).__name__}, but a keras.Model is expected: return "
                "the model"
            )
        if model in self._seen:
            raise UsageError(
                "build() returned the same model twice, and it is trained already: make a new one "
                "in each call"
            )
        self._seen.add(model)
        return model

    def _compile(self, model: keras.Model) -> None:
        if self.compile is None:
            raise UsageError(
                "build() returned a model that is not compiled: compile it there, or give "
                "compile=lambda model: model.compile(...)"
            )
        self.compile(model)

    def _train(self, model: keras.Model, mode: Mode) -> Outcome:
        if mode.synchronized:
            for layer in local_normalizations(model):
                layer.synchronized = True
        if mode.recorded:
            record(model)
        keras.utils.set_random_seed(self.seed + int(mode.reverse))
        shared = _seed_what_has_no_seed(self.seed)
        before = {id(v): number(v) for v in (*state_of(model), *shared)}
        callbacks = [_OneByOne()] if mode.one_by_one else None
        data = self._data(mode)
        history = model.fit(data, shuffle=False, verbose=0, callbacks=callbacks).history
        logs = {name: values[-1] for name, values in history.items()}
        if not mode.recorded:
            logs |= {f"evaluate {k}": v for k, v in _evaluate(model, data).items()}
        return outcome(model, logs, before)

    def _data(self, mode: Mode) -> tf.data.Dataset:
        data = self.batches.dataset
        if mode.recorded:
            data = self.batches.even() if mode.recorded == "even" else self.batches.last()
        elif mode.reverse:
            data = self.batches.reversed()
        return in_double_precision(data) if mode.exact else data


def _seed_what_has_no_seed(seed: int) -> list[keras.Variable]:
    """Let random numbers of Keras that are drawn without a seed be the same in each training."""
    internals.global_seed()
    states = shared_seeds()
    for state in states:
        state.assign([seed, 0])
    return states


class _OneByOne(keras.callbacks.Callback):
    """Looks at the logs of each step, which are there when the step is done."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Look."""
        len(logs)


def _set(variables: list[keras.Variable], values: Sequence[np.ndarray]) -> None:
    shapes = [tuple(v.shape) for v in variables]
    if shapes != [value.shape for value in values]:
        raise UsageError(
            f"build() returned a model of {len(values)} variables and then another of "
            f"{len(shapes)}, or of other shapes: it must return the same model each time"
        )
    for variable, value in zip(variables, values, strict=True):
        variable.assign(value)


def _evaluate(model: keras.Model, data: tf.data.Dataset) -> Mapping[str, Any]:
    """Evaluate, unless the user wrote a step for training and none for evaluation."""
    if not is_own(model, "train_step") and is_own(model, "test_step"):
        return {}
    return model.evaluate(data, verbose=0, return_dict=True)
