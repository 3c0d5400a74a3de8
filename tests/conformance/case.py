"""A conformance case: one feature of Keras, small enough to train under every strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from tests.conformance.record import Record

ALL = ("one_device", "mirrored", "central_storage", "multi_worker", "parameter_server")
THREE = (*ALL, "mirrored_3")  # where a third replica, and so unequal parts everywhere, says more

WEIGHTS = 1e-5  # relative to the largest value of the variable
METRICS = 1e-6  # relative to the largest value of the log


@dataclass(frozen=True)
class Limits:
    """How far a record may be from the reference, and why farther than everywhere else.

    Attributes:
        weights: Largest relative difference of variables and predictions.
        metrics: Largest relative difference of logs.
        why: What was measured and where it comes from; needed for limits other than the usual.
    """

    weights: float = WEIGHTS
    metrics: float = METRICS
    why: str = ""

    def __post_init__(self) -> None:
        if (self.weights, self.metrics) != (WEIGHTS, METRICS) and not self.why:
            raise ValueError("Limits wider than the usual need a reason.")


@dataclass(frozen=True)
class Outcome:
    """What a case showed, beside the model itself.

    Attributes:
        history: The logs of every epoch.
        evaluation: What evaluate returned.
        predictions: What predict returned, flattened.
        seen: Anything else that must be equal, by name.
    """

    history: dict[str, list] = field(default_factory=dict)
    evaluation: dict[str, Any] = field(default_factory=dict)
    predictions: list = field(default_factory=list)
    seen: dict[str, Any] = field(default_factory=dict)


def fit_evaluate(model: keras.Model, case: Case) -> Outcome:
    """Train on the case's data, then evaluate on what is held out."""
    arguments = case.fit()
    usual = {"epochs": 3, "shuffle": False, "verbose": 0}
    history = model.fit(**case.data(), **(usual | arguments))
    evaluation = model.evaluate(**case.held(), verbose=0, return_dict=True)
    seen = {type(c).__name__: c.seen for c in arguments.get("callbacks", ()) if hasattr(c, "seen")}
    return Outcome(history.history, evaluation, seen=seen)


def fit_evaluate_predict(model: keras.Model, case: Case) -> Outcome:
    """The same, and predict."""
    outcome = fit_evaluate(model, case)
    inputs = {k: v for k, v in case.held().items() if k in ("x", "batch_size", "steps")}
    predictions = tf.nest.flatten(model.predict(**inputs, verbose=0))
    return replace(outcome, predictions=predictions)


def make_in_scope(
    case: Case, strategy: tf.distribute.Strategy, distribute: Callable
) -> keras.Model:
    """Build and compile the model in the strategy's scope."""
    with strategy.scope():
        model = distribute(case.build())
        model.compile(**case.compiled())
    return model


def _nothing() -> dict:
    return {}


@dataclass(frozen=True)
class Case:
    """One feature and how it is trained.

    Attributes:
        name: Unique; the row of the table.
        group: The rows it belongs to.
        build: Makes the model.
        compiled: Makes the arguments of compile().
        data: Makes the data arguments of fit().
        held: Makes the arguments of evaluate(), those of predict() among them.
        fit: Makes the other arguments of fit().
        make: Builds and compiles the model under a strategy.
        play: What is done with the model.
        limits: How far the result may be from plain Keras on one device.
        iterations: The true number of optimizer steps, where plain Keras does not count them.
        by_design: Why several replicas do not give the numbers of one device.
        expect: Says what is wrong in a record that differs by design, given the reference.
        reference: Makes the case that plain Keras plays, for a number of replicas.
        refused: What the refusal says, for each strategy that refuses.
        strategies: Where it is played.
    """

    name: str
    group: str
    build: Callable[[], keras.Model]
    compiled: Callable[[], dict]
    data: Callable[[], dict]
    held: Callable[[], dict]
    fit: Callable[[], dict] = _nothing
    make: Callable[[Case, Any, Callable], keras.Model] = make_in_scope
    play: Callable[[keras.Model, Case], Outcome] = fit_evaluate
    limits: Limits = Limits()
    iterations: int | None = None
    by_design: str = ""
    expect: Callable[[Record, Record, int], list[str]] | None = None
    reference: Callable[[int], Case] | None = None
    refused: Mapping[str, str] = field(default_factory=dict)
    strategies: tuple[str, ...] = ALL
