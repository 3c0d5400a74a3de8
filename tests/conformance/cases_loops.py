"""Ways to run the loop: several steps a call, compiled, eagerly, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import layers
from tensorflow.python.ops import control_flow_util

from tests.conformance import small
from tests.conformance.case import Case, Outcome, fit_evaluate, make_in_scope


def _case(
    name: str,
    fit: Callable[[], dict] = dict,
    build: Callable[[], keras.Model] = small.mlp,
    play: Callable[[keras.Model, Case], Outcome] = fit_evaluate,
    data: Callable[[], dict] = small.classes,
    make: Callable[[Case, Any, Callable], keras.Model] = make_in_scope,
    refused: dict[str, str] | None = None,
    **compiled: Any,
) -> Case:
    def arguments() -> dict:
        made = {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}
        return made | compiled

    return Case(
        name,
        "loops",
        build,
        arguments,
        data,
        data,
        fit,
        play=play,
        make=make,
        refused=refused or {},
    )


def _not_compiled(case: Case, strategy: Any, distribute: Callable) -> keras.Model:
    with strategy.scope():
        return distribute(case.build())


class HowCalled(layers.Layer):
    """Notes whether it is called eagerly, in a graph, or in a graph that XLA compiles."""

    def __init__(self) -> None:
        super().__init__()
        self.how: set[str] = set()

    def call(self, x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        if not isinstance(x, keras.KerasTensor) and hasattr(graph, "capture"):
            compiled = control_flow_util.GraphOrParentsInXlaContext(graph)
            self.how.add("compiled" if compiled else "graph")
        elif tf.executing_eagerly():
            self.how.add("eager")
        return x


def _traced() -> keras.Model:
    x = layers.Input((small.FEATURES,))
    h = HowCalled()(layers.Dense(8, "tanh")(x))
    return keras.Model(x, layers.Dense(small.CLASSES)(h))


def _told_how(model: keras.Model, case: Case) -> Outcome:
    """Play as usual; then say how the layers were called."""
    layer = next(x for x in model.layers if isinstance(x, HowCalled))
    layer.how.clear()
    outcome = fit_evaluate(model, case)
    wanted = "eager" if model.run_eagerly else "compiled"
    seen = {"how": wanted if wanted in layer.how else sorted(layer.how)}
    return Outcome(outcome.history, outcome.evaluation, outcome.predictions, seen)


def _on_batches(model: keras.Model, case: Case) -> Outcome:
    """train_on_batch and test_on_batch, on batches of every length."""
    x, y = small.blobs()
    weights = small.weights()
    logs: list[list[float]] = []
    for _ in range(2):
        for start in range(0, small.EXAMPLES, 9):
            part = slice(start, start + 9)
            trained = model.train_on_batch(x[part], y[part], weights[part])
            tested = model.test_on_batch(x[part], y[part], return_dict=True)
            logs.append([*trained, tested["loss"], tested["accuracy"]])
    last = model.train_on_batch(
        x[:7], y[:7], class_weight={0: 1.0, 1: 2.0, 2: 3.0}, return_dict=True
    )
    predicted = model.predict_on_batch(x[:5])
    return Outcome(seen={"logs": logs, **last}, predictions=[predicted])


def _outputs() -> keras.Model:
    x = layers.Input((small.FEATURES,))
    h = layers.Dense(4, "tanh")(x)
    return keras.Model(
        x, {"a": layers.Dense(2, name="a")(h), "b": (layers.Dense(3, name="b")(h), h)}
    )


def _predicting(model: keras.Model, case: Case) -> Outcome:
    """Predict rows in order, in batches of every kind; several outputs."""
    x, _ = small.blobs()
    dataset = tf.data.Dataset.from_tensor_slices(x)
    outputs = [
        model.predict(x, batch_size=16, verbose=0),
        model.predict(x[:1], verbose=0),
        model.predict(x[:23], batch_size=5, verbose=0),
        model.predict(dataset.batch(1).take(7), verbose=0),
        model.predict(dataset.repeat().batch(11), steps=3, verbose=0),
    ]
    return Outcome(predictions=tf.nest.flatten(outputs))


CASES = (
    _case("steps_per_execution 3", steps_per_execution=3),
    _case("steps_per_execution larger than an epoch", steps_per_execution=50),
    _case("jit_compile", build=_traced, play=_told_how, jit_compile=True),
    _case(
        "run_eagerly",
        build=_traced,
        play=_told_how,
        refused={
            "parameter_server": "run_eagerly=True was received, but workers .* run graphs only"
        },
        run_eagerly=True,
    ),
    _case("train_on_batch and test_on_batch", play=_on_batches),
    _case(
        "predict, not compiled, several outputs",
        build=_outputs,
        play=_predicting,
        make=_not_compiled,
    ),
)
