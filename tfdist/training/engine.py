"""One model under one strategy: builds it, makes its steps, reads its logs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf

from tfdist.cluster.pulse import PULSE, SLOW
from tfdist.factory.context import last
from tfdist.training import apart, internals
from tfdist.training.additive import adds_up
from tfdist.training.agree import Agreement
from tfdist.training.faults import Faults
from tfdist.training.loop import Loop
from tfdist.training.placement import place, place_optimizer
from tfdist.training.predict import Predictor
from tfdist.training.rehearsal import has_unbuilt_optimizers, rehearse
from tfdist.training.replica import TestStep, TrainStep, is_own
from tfdist.training.step import Step, without_optionals
from tfdist.training.trial import Tried

# Of steps; after these all is traced and compiled, on workers under parameter servers too.
_FIRST_CALLS = 2


class Engine:
    """Runs the steps of a model on the replicas of a strategy.

    Args:
        model: A Keras model, compiled or not, built or not.
        strategy: Any strategy whose replicas compute in step with each other.
        sync_period: Steps that workers train apart; None for none.
        auto_jit: Whether to try if XLA makes a training step faster.
    """

    adds_up = True
    apart = False  # whether metrics are counted in another process than the steps

    def __init__(
        self,
        model: keras.Model,
        strategy: tf.distribute.Strategy,
        sync_period: int | None = None,
        auto_jit: bool = False,
    ) -> None:
        self.model = model
        self._sync_period = sync_period
        self._auto_jit = auto_jit
        self.strategy = strategy
        self._loops: dict[str, Any] = {}
        self._steps: dict[str, Any] = {}
        self._compiled: Any = None
        self._predictor: Predictor | None = None
        self._results: Any = None
        self._agreement = Agreement(strategy)
        self._calls = 0
        self._faults: Faults | None = None

    def ready(self, spec: Any) -> None:
        """Build what is not built for such batches; put every variable in its place."""
        model = self.model
        self.begin_epoch()
        internals.global_seed()  # made here, so that it is among what a checkpoint keeps
        if self._compiled is not model._loss_tracker:
            self._compiled = model._loss_tracker
            self._loops.clear()
            self.__dict__.pop("adds_up", None)
            self._results = None
        place(model, self.strategy)
        self._build(symbolic(spec))
        place(model, self.strategy)
        several = self.apart or self.strategy.num_replicas_in_sync > 1
        if several and "adds_up" not in self.__dict__:
            self.adds_up = adds_up(model, symbolic(spec))

    def _build(self, spec: Any) -> None:
        """Build symbolically; a step of the user's own may leave no more to build than itself."""
        try:
            with self.strategy.scope():
                self.model._symbolic_build(data_batch=spec)
        except (TypeError, ValueError, RuntimeError):
            if is_own(self.model, "train_step"):
                raise
        if not is_own(self.model, "train_step") and has_unbuilt_optimizers(self.model):
            for optimizer, variables in rehearse(self.model, self.strategy, spec):
                place_optimizer(optimizer, variables, self.strategy)

    def graph(self, spec: Any) -> tf.Graph:
        """Return the traced graph of a training step on batches of this structure."""
        self.ready(spec)
        step = tf.function(self._make_step("train"), autograph=False)
        return step.get_concrete_function(spec).graph

    def graphs_apart(self, spec: Any) -> tuple[tf.Graph, tf.Graph]:
        """Return what a worker and what its parameter servers do of such a step, traced."""
        self.ready(spec)
        step = self._make_step("train")
        computing = tf.function(
            lambda batch: step.compute(without_optionals(batch)), autograph=False
        ).get_concrete_function(spec)
        sums = tf.nest.map_structure(
            lambda each: each if each is None else tf.TensorSpec(each.shape, each.dtype),
            computing.structured_outputs,
        )
        writing = tf.function(step.write, autograph=False).get_concrete_function(sums)
        return computing.graph, writing.graph

    @property
    def traced(self) -> tf.Graph | None:
        """The graph of the training step as it runs; None where there is none, or none yet."""
        return self._steps["train"].graph if "train" in self._steps else None

    def begin_epoch(self) -> None:
        """Say that the next steps may take long: they are traced, and buffers of data filled."""
        self._calls = 0

    def train(self, iterator: Any, at_most: int) -> int:
        """Train on up to `at_most` batches; return how many, 0 when there are no more."""
        with self._together("trains", computes=True):
            return self._loop("train")(iterator, at_most)

    def test(self, iterator: Any, at_most: int) -> int:
        """Evaluate up to `at_most` batches; return how many, 0 when there are no more."""
        with self._together("evaluates", computes=True):
            return self._loop("test")(iterator, at_most)

    def on_batch(self, kind: str, batch: Any) -> None:
        """Run one step, of kind "train" or "test", on one batch."""
        with self._together(f"is in {kind}_on_batch()", computes=True):
            self._loop(kind).one(batch)

    def predict(self, batch: Any) -> Any:
        """Return the predictions for one global batch, in its order, on every task."""
        with self._together("predicts", computes=True):
            return self.predictor(batch)

    @property
    def predictor(self) -> Predictor:
        """What predicts a batch."""
        if self._predictor is None:
            self._predictor = Predictor(self.model, self.strategy)
        return self._predictor

    def ready_to_predict(self, spec: Any) -> None:
        """Build a model that was only called, never compiled."""
        if not self.model.built:
            x = internals.unpack(symbolic(spec))[0]
            with self.strategy.scope():
                internals.output_spec(self.model, x)
        place(self.model, self.strategy)

    @property
    def is_chief(self) -> bool:
        """Whether this task speaks for the job."""
        context = last()
        if context is not None and context.strategy is self.strategy:
            return context.cluster.is_chief
        resolver = self.strategy.cluster_resolver
        return resolver is None or not resolver.task_id

    def asked_to_stop(self, kind: str) -> bool:
        """Return whether a callback of this task asked to stop."""
        return self.model.stop_training if kind == "train" else self.model.stop_evaluating

    def agree_to_stop(self, stop: bool) -> bool:
        """Return whether any task asked to stop, and take over the chief's learning rate."""
        with self._together("asks the others whether to stop"):
            return self._agreement(stop, self.model.optimizer)

    def finalize(self) -> None:
        """Let the optimizer put its moving averages in place of the weights, if it keeps them."""
        with self.strategy.scope():
            self.model.optimizer.finalize_variable_values(self.model.trainable_weights)

    def logs(self, kind: str) -> dict[str, float]:
        """Fetch the metrics, and what else a step of the user's own logs."""
        with self._together("reads its metrics"):
            return self._logs(kind)

    def _logs(self, kind: str) -> dict[str, float]:
        if kind in self._loops:
            self._loops[kind].settle()
        if self._results is None:
            self._results = tf.function(self.model.get_metrics_result)
        results = self.model.get_metrics_result() if self.model.run_eagerly else self._results()
        if kind in self._steps:
            results = self._steps[kind].logs.with_metrics(results)
        return internals.pythonify_logs(results)

    def watch_losses(self) -> Faults:
        """Note from now on which losses are not finite; return where."""
        if self._faults is None:
            self._faults = Faults(self.strategy.num_replicas_in_sync)
            self._loops.pop("train", None)
        return self._faults

    def settle(self) -> None:
        """Wait until every step that was asked for is computed and counted."""
        with self._together("waits for its last steps"):
            for loop in self._loops.values():
                loop.settle()

    @contextmanager
    def _together(self, what: str, computes: bool = False) -> Iterator[None]:
        """Say that the other tasks must do the same, and whether they may have to wait for it."""
        self._calls += computes
        is_first = (computes or self.apart) and self._calls <= _FIRST_CALLS
        with PULSE.doing(what, together=True, patience=SLOW if is_first else 1.0):
            yield

    @property
    def input_seconds(self) -> float:
        """For how long training steps have waited for their batches, where the loop can tell."""
        return self._loops["train"].input_seconds if "train" in self._loops else 0.0

    def make_loop(self, step: Step) -> Any:
        """Return what runs a step."""
        agree = self._agreement.seconds
        loop = Loop(step, eager=bool(self.model.run_eagerly), agree=agree)
        if self._auto_jit and isinstance(step, TrainStep):
            return Tried(step, loop, agree, speaks=self.is_chief)
        return loop

    @property
    def trains_apart(self) -> bool:
        """Whether workers train apart."""
        return apart.trains_apart(self.strategy, self._sync_period)

    def meet(self) -> None:
        """Let workers that train apart average what they have learned."""
        step = self._steps.get("train")
        if isinstance(step, apart.Apart):
            step.meet()

    def _make_step(self, kind: str) -> Step:
        if kind == "train" and self.trains_apart:
            apart.check(self.model, self.strategy, self.adds_up)
            return apart.Apart(self.model, self.strategy, int(self._sync_period or 1))
        return {"train": TrainStep, "test": TestStep}[kind](self.model, self.strategy, self.adds_up)

    def _loop(self, kind: str) -> Any:
        if kind not in self._loops:
            step = self._make_step(kind)
            step.faults = self._faults if kind == "train" else None
            self._steps[kind] = step
            self._loops[kind] = self.make_loop(step)
        return self._loops[kind]


def symbolic(spec: Any) -> Any:
    """Return a batch's structure for a symbolic build: None where a part is absent."""

    def leaf(each: Any) -> Any:
        if isinstance(each, tf.OptionalSpec) or not hasattr(each, "shape"):
            return None
        return tf.TensorSpec(each.shape, each.dtype)

    return tf.nest.map_structure(leaf, spec)
