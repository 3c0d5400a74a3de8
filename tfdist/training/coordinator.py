"""Under parameter servers: the chief deals out global batches, the workers compute them.

Each step takes one whole global batch on one worker and updates the variables on the servers. A
step returns what it adds to the metrics, and the chief adds it up, so that each example is counted
once even when a worker dies and its step is run again on another.
"""

import time
from collections import deque
from typing import Any

import keras
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training import internals
from tfdist.training.engine import Engine
from tfdist.training.step import Step, without_optionals

_AHEAD = 8  # steps in flight for each worker: enough that none waits for the chief


class Dealer:
    """Deals out a step's batches to the workers, and counts what the steps return.

    Args:
        step: Computes a batch; its `on_worker` runs on a worker, its `count` here.
        coordinator: Schedules functions on the workers.
        ahead: Steps in flight over all workers.
    """

    def __init__(self, step: Step, coordinator: Any, ahead: int) -> None:
        self._step = step
        self._coordinator = coordinator
        self._ahead = ahead
        self._function = tf.function(step.on_worker, autograph=False, reduce_retracing=True)
        self._of_spec: dict[str, Any] = {}
        self._pending: deque = deque()
        self.input_seconds = 0.0  # in which the chief waited for a batch, all together

    def __call__(self, iterator: Any, at_most: int) -> int:
        """Deal out up to `at_most` batches; return how many, 0 when there are no more."""
        function = self._traced_for(iterator.element_spec)
        done = 0
        while done < min(at_most, self._ahead):
            begin = time.perf_counter()
            batch = next(iterator, None)
            self.input_seconds += time.perf_counter() - begin
            if batch is None:
                break
            self._deal(function, batch)
            done += 1
        return done

    def one(self, batch: Any) -> None:
        """Deal out one batch that was given by hand."""
        self._deal(self._function, batch)

    def _traced_for(self, spec: Any) -> Any:
        """Return the step for batches of any size, as a loop over the iterator would trace it."""
        if repr(spec) not in self._of_spec:
            leaves = tf.nest.flatten(spec)
            present = [i for i, leaf in enumerate(leaves) if hasattr(leaf, "shape")]

            def step(parts: list) -> Any:
                flat = dict(zip(present, parts, strict=True))
                whole = [flat.get(i) for i in range(len(leaves))]
                return self._step.on_worker(tf.nest.pack_sequence_as(spec, whole))

            signature = [[leaves[i] for i in present]]
            self._of_spec[repr(spec)] = tf.function(
                step, autograph=False, input_signature=signature
            )
        return self._of_spec[repr(spec)]

    def _deal(self, function: Any, batch: Any) -> None:
        batch = without_optionals(batch)
        parts = [part for part in tf.nest.flatten(batch) if part is not None]
        given = batch if function is self._function else parts
        result = self._coordinator.schedule(function, args=(given,))
        self._pending.append((batch, result))
        if len(self._pending) > self._ahead:
            self._count()

    def settle(self) -> None:
        """Wait until all batches are computed and counted."""
        while self._pending:
            self._count()
        self._coordinator.join()

    def _count(self) -> None:
        batch, result = self._pending.popleft()
        with internals.outside_strategy():
            self._step.count(batch, result.fetch())


class Coordinated(Engine):
    """An engine whose steps are computed by the workers of a ParameterServerStrategy.

    Raises:
        UsageError: the model is to run eagerly, which workers cannot; or a variable is cut.
    """

    apart = True

    def __init__(self, model: keras.Model, strategy: Any) -> None:
        super().__init__(model, strategy)
        self._coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
        self._ahead = _AHEAD * max(1, strategy._num_workers)

    def ready(self, spec: Any) -> None:
        """Build what is not built; let no two workers overwrite each other's count of steps."""
        if self.model.run_eagerly:
            raise UsageError(
                "run_eagerly=True was received, but workers of parameter_server run graphs only; "
                "debug with strategy one_device."
            )
        cut = [v.path for v in self.model.variables if internals.is_cut(v)]
        if cut:
            raise UsageError(
                f"{cut[0]} is cut into parts by a variable_partitioner, and Keras cannot train "
                "such a variable: leave the partitioner out; tfdist.strategy() places whole "
                "variables on the ps tasks by size"
            )
        super().ready(spec)
        if self.model.optimizer is not None:
            internals.count_exactly(self.model.optimizer)

    def predict(self, batch: Any) -> Any:
        """Return the predictions for one global batch, computed by a worker."""
        function = self.predictor.function
        return self._coordinator.schedule(function, args=(without_optionals(batch),)).fetch()

    def make_loop(self, step: Step) -> Dealer:
        """Return what runs a step."""
        step.remote = True
        return Dealer(step, self._coordinator, self._ahead)
