"""Workers that train apart, and average what they have learned every so many steps.

Local SGD (Stich, https://arxiv.org/abs/1805.09767): each worker applies the gradient of its own
part of the global batch; every `period` steps weights, optimizer slots and moving statistics become
their mean over the workers, weighted by the examples each has seen since. With a period of 1 and
plain SGD that is synchronous training, to rounding.
"""

from dataclasses import replace
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training import internals
from tfdist.training.parts import part
from tfdist.training.replica import TrainStep, is_own
from tfdist.training.share import Share
from tfdist.transport import first, spans_tasks, sum_replicas


def check(model: keras.Model, strategy: tf.distribute.Strategy, adds_up: bool) -> None:
    """Refuse what cannot train apart.

    Raises:
        UsageError: a worker has several devices, metrics do not add up, or the train_step is the
            user's own.
    """
    if len(strategy.extended.worker_devices) > 1:
        raise UsageError(
            f"workers that train apart have one device each, and this one has "
            f"{len(strategy.extended.worker_devices)}: start a worker for each device."
        )
    if not adds_up or not is_own(model, "train_step"):
        raise UsageError(
            "workers cannot train apart with a train_step of the user's own, or with metrics whose "
            "values do not add up over workers: leave sync_period out."
        )


class Apart(TrainStep):
    """Trains on this worker's part of each global batch, and meets the others now and then.

    Args:
        model: The compiled and built Keras model.
        strategy: One with one replica in each of several tasks.
        period: Steps from one meeting to the next.
    """

    def __init__(self, model: keras.Model, strategy: tf.distribute.Strategy, period: int) -> None:
        super().__init__(model, strategy)
        self.sends_factors = False  # gradients stay here
        self.remote = True  # metrics are counted apart until the next meeting
        self._period = period
        self._steps = _variable(0, tf.int32)
        self._seen = _variable(0, tf.float32)
        self._counted: list[tf.Variable] = []
        self._meet = tf.function(self._average, autograph=False)

    def meet(self) -> None:
        """Average at once, unless nothing was learned since the last time; all workers call it."""
        if int(self._steps.numpy()):
            self._meet()

    def share_of(self, share: Share) -> Share:
        """Return what this worker's part counts for: it is a whole batch."""
        return replace(share, total=share.rows, replicas=1)

    def compute(self, batch: Any) -> dict[str, Any]:
        """Return what this worker's replica returned."""
        outputs = self.strategy.run(self._run_replica, (batch,))
        mine = {name: [first(self.strategy, v) for v in values] for name, values in outputs.items()}
        mine["gradients"] = [_scaled(g, self._count(batch) > 0) for g in mine["gradients"]]
        return mine | {"outputs": None}

    def count(self, batch: Any, sums: dict[str, Any]) -> None:
        """Keep the increments of the metrics, and average when it is time to."""
        if not self._counted:
            self._counted = [_variable(np.zeros(v.shape), v.dtype) for v in self.state.added]
        for variable, value in zip(self._counted, sums["added"], strict=True):
            variable.assign_add(tf.cast(value, variable.dtype))
        self.logs.keep(sums["logs"])
        self._seen.assign_add(tf.cast(self._count(batch), tf.float32))
        steps = self._steps.assign_add(1)
        tf.cond(steps >= self._period, self._average, lambda: tf.constant(0))

    def _count(self, batch: Any) -> tf.Tensor:
        """Return the examples of a global batch that are this worker's own."""
        replicas = self.strategy.num_replicas_in_sync
        share = part(batch, self.strategy.extended._id_in_cluster, replicas)[1]
        return tf.convert_to_tensor(share.count)

    def _average(self) -> tf.Tensor:
        learned = [internals.raw(v) for v in _learned(self.model)] + self.logs.variables
        seen = tf.convert_to_tensor(self._seen)
        mine = [tf.convert_to_tensor(v) * tf.cast(seen, v.dtype) for v in learned]
        counted = [tf.convert_to_tensor(v) for v in self._counted]
        sums = sum_replicas(self.strategy, [seen, *mine, *counted])
        total, sums = sums[0], sums[1:]
        for variable, value in zip(learned, sums, strict=False):
            mean = tf.math.divide_no_nan(value, tf.cast(total, value.dtype))
            variable.assign(tf.where(total > 0, mean, tf.convert_to_tensor(variable)))
        added = sums[len(learned) :]
        for metric, mine_, value in zip(self.state.added, self._counted, added, strict=True):
            internals.raw(metric).assign_add(value)
            mine_.assign(tf.zeros_like(mine_))
        self._seen.assign(0.0)
        self._steps.assign(0)
        return tf.constant(0)


def trains_apart(strategy: tf.distribute.Strategy, period: int | None) -> bool:
    """Return whether there are workers to train apart."""
    return period is not None and spans_tasks(strategy)


def _learned(model: keras.Model) -> list[keras.Variable]:
    """Return what training changes: weights, moving statistics and slots, all floating."""
    counted = {id(v) for metric in model.metrics for v in metric.variables}
    optimizer = model.optimizer
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    counted |= {id(v) for v in (inner._learning_rate, optimizer.iterations)}
    every = {id(v): v for v in [*model.variables, *optimizer.variables]}
    return [v for i, v in every.items() if i not in counted and tf.as_dtype(v.dtype).is_floating]


def _variable(value: Any, dtype: Any) -> tf.Variable:
    with tf.init_scope(), internals.outside_strategy():
        return tf.Variable(tf.cast(value, dtype), trainable=False)


def _scaled(gradient: Any, counts: tf.Tensor) -> Any:
    """Return the gradient, or none of it where a worker without examples repeated one."""
    factor = tf.cast(counts, gradient.dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor
