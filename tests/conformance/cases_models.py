"""Models built, compiled, loaded and changed in and out of the strategy's scope."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from tests.conformance import small
from tests.conformance.case import Case, Outcome, fit_evaluate_predict, make_in_scope


def _compiled() -> dict:
    return {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}


def _case(
    name: str,
    make: Callable[[Case, Any, Callable], keras.Model] = make_in_scope,
    play: Callable[[keras.Model, Case], Outcome] = fit_evaluate_predict,
    build: Callable[[], keras.Model] = small.mlp,
) -> Case:
    return Case(
        name, "models", build, _compiled, small.classes, small.classes, make=make, play=play
    )


def _built_outside(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    model = case.build()
    with strategy.scope():
        distribute(model)
        model.compile(**case.compiled())
    return model


def _compiled_outside(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    model = case.build()
    model.compile(**case.compiled())
    with strategy.scope():
        distribute(model)
    return model


def _compiled_after_scope(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    with strategy.scope():
        model = distribute(case.build())
    model.compile(**case.compiled())
    return model


def _trained_elsewhere(case: Case) -> keras.Model:
    """A model trained a little by plain Keras, without any strategy."""
    model = case.build()
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=small.softmax_loss())
    model.fit(**case.data(), epochs=1, shuffle=False, verbose=0)
    return model


def _loaded(inside: bool) -> Callable:
    """A model saved with its optimizer, then loaded in or out of the scope."""

    def make(case: Case, strategy: tf.distribute.Strategy, distribute: Callable) -> keras.Model:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.keras"
            _trained_elsewhere(case).save(file)
            if not inside:
                model = keras.saving.load_model(file)
            with strategy.scope():
                return distribute(keras.saving.load_model(file) if inside else model)

    return make


def _with_weights_of_a_file(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.weights.h5"
        _trained_elsewhere(case).save_weights(file)
        model = make_in_scope(case, strategy, distribute)
        model.load_weights(file)
    return model


def _cloned(case: Case, strategy: tf.distribute.Strategy, distribute: Callable) -> keras.Model:
    source = _trained_elsewhere(case)
    with strategy.scope():
        model = distribute(keras.models.clone_model(source))
        model.set_weights(source.get_weights())
        model.compile(**case.compiled())
    return model


def _distributed_twice(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    with strategy.scope():
        model = distribute(distribute(case.build()))
        model.compile(**case.compiled())
    return model


def _fine_tuned(model: keras.Model, case: Case) -> Outcome:
    """Train the head, then everything at a lower rate."""
    model.get_layer("base").trainable = False
    model.compile(**case.compiled())
    first = model.fit(**case.data(), epochs=2, shuffle=False, verbose=0)
    model.get_layer("base").trainable = True
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss=small.softmax_loss())
    outcome = fit_evaluate_predict(model, case)
    return Outcome(
        outcome.history, outcome.evaluation, outcome.predictions, {"first": first.history["loss"]}
    )


def _with_base() -> keras.Model:
    base = keras.Sequential(
        [layers.Dense(8, "tanh"), layers.BatchNormalization(synchronized=True)], name="base"
    )
    return keras.Sequential([layers.Input((small.FEATURES,)), base, layers.Dense(small.CLASSES)])


def _continued(model: keras.Model, case: Case) -> Outcome:
    """fit twice, the second from where the first ended; then compiled anew and fit again."""
    quiet = {"shuffle": False, "verbose": 0}
    first = model.fit(**case.data(), epochs=2, **quiet)
    second = model.fit(**case.data(), epochs=4, initial_epoch=2, **quiet)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss=small.softmax_loss(),
        metrics=[keras.metrics.SparseTopKCategoricalAccuracy(2)],
    )
    outcome = fit_evaluate_predict(model, case)
    seen = {"first": first.history["loss"], "second": second.history["loss"]}
    return Outcome(outcome.history, outcome.evaluation, outcome.predictions, seen)


def _saved(model: keras.Model, case: Case) -> Outcome:
    """Train, save, load with plain Keras, and go on there."""
    model.fit(**case.data(), epochs=2, shuffle=False, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.keras"
        model.save(file)
        loaded = keras.saving.load_model(file)
    history = loaded.fit(**case.data(), epochs=1, shuffle=False, verbose=0)
    seen = {f"saved {i}": w for i, w in enumerate(loaded.get_weights())}
    return Outcome(history.history, seen=seen)


class Shared(keras.Model):
    """A subclass that is built by its first batch, with a layer used twice and a frozen one."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layers.Dense(small.FEATURES, "tanh")
        self.frozen = layers.Dense(small.FEATURES, trainable=False)
        self.out = layers.Dense(small.CLASSES)

    def call(self, x: Any) -> Any:
        return self.out(self.first(self.first(self.frozen(x))))


def _set_before(model: keras.Model, case: Case) -> Outcome:
    """Weights and the rate are set by hand between two calls of fit."""
    model.fit(**case.data(), epochs=2, shuffle=False, verbose=0)
    model.set_weights([np.round(w, 1) for w in model.get_weights()])
    model.optimizer.learning_rate = 0.02
    rate = float(model.optimizer.learning_rate)
    outcome = fit_evaluate_predict(model, case)
    return Outcome(outcome.history, outcome.evaluation, outcome.predictions, {"rate": rate})


CASES = (
    _case("built outside the scope", _built_outside),
    _case("compiled outside the scope", _compiled_outside),
    _case("compiled after the scope", _compiled_after_scope),
    _case("load_model inside the scope", _loaded(inside=True)),
    _case("load_model outside the scope", _loaded(inside=False)),
    _case("weights of a file", _with_weights_of_a_file),
    _case("clone_model", _cloned),
    _case("distributed twice", _distributed_twice),
    _case("fine-tuning with frozen layers", play=_fine_tuned, build=_with_base),
    _case("fit again, compile again", play=_continued),
    _case("saved and loaded by plain Keras", play=_saved),
    _case("subclass built by its first batch, shared and frozen layers", build=Shared),
    _case("weights and learning rate set by hand", play=_set_before),
)
