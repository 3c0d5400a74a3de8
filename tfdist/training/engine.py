"""One model under one strategy: builds it, makes its steps, reads its logs."""

from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.factory.context import last
from tfdist.training import internals
from tfdist.training.agree import Agreement
from tfdist.training.loop import Loop
from tfdist.training.placement import place
from tfdist.training.predict import Predictor
from tfdist.training.step import TestStep, TrainStep


class Engine:
    """Runs the steps of a model on the replicas of a strategy.

    Args:
        model: A Keras model, compiled or not, built or not.
        strategy: Any strategy whose replicas compute in step with each other.
    """

    def __init__(self, model: keras.Model, strategy: tf.distribute.Strategy) -> None:
        self.model = model
        self.strategy = strategy
        self._loops: dict[str, Loop] = {}
        self._steps: dict[str, Any] = {}
        self._compiled: Any = None
        self._predictor: Predictor | None = None
        self._results: Any = None
        self._agreement = Agreement(strategy, self.is_chief)

    def ready(self, spec: Any) -> None:
        """Build what is not built for batches of this structure; put every variable in its place."""
        model = self.model
        if self._compiled is not model._loss_tracker:
            self._compiled = model._loss_tracker
            self._loops.clear()
            self._results = None
        with self.strategy.scope():
            model._symbolic_build(data_batch=symbolic(spec))
            if model.optimizer is not None and not model.optimizer.built:
                model.optimizer.build(model.trainable_variables)
        place(model, self.strategy)

    def train(self, iterator: Any, at_most: int) -> int:
        """Train on up to `at_most` batches; return how many, 0 when there are no more."""
        return self._loop("train")(iterator, at_most)

    def test(self, iterator: Any, at_most: int) -> int:
        """Evaluate up to `at_most` batches; return how many, 0 when there are no more."""
        return self._loop("test")(iterator, at_most)

    def on_batch(self, kind: str, batch: Any) -> None:
        """Run one step, of kind "train" or "test", on one batch."""
        self._loop(kind).one(batch)

    def predict(self, batch: Any) -> Any:
        """Return the predictions for one global batch, in its order, on every task."""
        if self._predictor is None:
            self._predictor = Predictor(self.model, self.strategy)
        return self._predictor(batch)

    def ready_to_predict(self, spec: Any) -> None:
        """Build a model that was only called, never compiled."""
        if not self.model.built:
            x = internals.unpack(symbolic(spec))[0]
            with self.strategy.scope():
                keras.backend.compute_output_spec(self.model, _keras_tensors(x))
        place(self.model, self.strategy)

    @property
    def is_chief(self) -> bool:
        """Whether this task speaks for the job."""
        context = last()
        return context is None or context.cluster.is_chief

    def asked_to_stop(self, kind: str) -> bool:
        """Return whether a callback of this task asked to stop."""
        return self.model.stop_training if kind == "train" else self.model.stop_evaluating

    def agree_to_stop(self, stop: bool) -> bool:
        """Return whether any task asked to stop, and take over the chief's learning rate."""
        return self._agreement(stop, self.model.optimizer)

    def finalize(self) -> None:
        """Let the optimizer put its moving averages in place of the weights, if it keeps them."""
        with self.strategy.scope():
            self.model.optimizer.finalize_variable_values(self.model.trainable_weights)

    def logs(self, kind: str) -> dict[str, float]:
        """Fetch the metrics, and what else a step of the user's own logs."""
        if self._results is None:
            self._results = tf.function(self.model.get_metrics_result)
        results = self.model.get_metrics_result() if self.model.run_eagerly else self._results()
        results |= self._steps[kind].logs if kind in self._steps else {}
        return {name: _number(value) for name, value in results.items()}

    def _loop(self, kind: str) -> Loop:
        if kind not in self._loops:
            step = {"train": TrainStep, "test": TestStep}[kind](self.model, self.strategy)
            self._steps[kind] = step
            self._loops[kind] = Loop(step, eager=self.model.run_eagerly)
        return self._loops[kind]


def symbolic(spec: Any) -> Any:
    """Return a batch's structure for a symbolic build: None where a part is absent."""

    def leaf(each: Any) -> Any:
        if isinstance(each, tf.OptionalSpec):
            return None
        return tf.TensorSpec(each.shape, each.dtype)

    return tf.nest.map_structure(leaf, spec)


def _keras_tensors(x: Any) -> Any:
    return tf.nest.map_structure(
        lambda s: None if s is None else keras.KerasTensor(s.shape, s.dtype.name), x
    )


def _number(value: Any) -> Any:
    array = np.asarray(value)
    return float(array) if array.ndim == 0 else array
