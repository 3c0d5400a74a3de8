"""Ways to run the loop, and what callbacks see of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf
from keras import layers
from tensorflow.python.ops import control_flow_util

import tfdist.factory.context
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


def _on_batches(model: keras.Model, case: Case) -> Outcome:
    """train_on_batch and test_on_batch, on batches of every length."""
    x, y = small.blobs()
    weights = small.weights()
    logs: list[list[float]] = []
    for epoch in range(2):
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
    _case(
        "steps_per_execution with callbacks for each call",
        lambda: {"callbacks": [EveryBatch()]},
        steps_per_execution=4,
    ),
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
    _case("callbacks see the logs of every batch", _every_batch),
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
