"""What does each worker read, when each has data of its own?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfdist.data.items import by_worker
from tfdist.errors import UsageError

if TYPE_CHECKING:
    import tensorflow as tf


@dataclass(frozen=True)
class WorkerContext:
    """For whom a dataset is made.

    Attributes:
        worker: number of the worker, from 0.
        workers: how many there are.
        epoch: number of the epoch, from 0.
        seed: differs from worker to worker and from epoch to epoch, and is the same in a rerun.
    """

    worker: int
    workers: int
    epoch: int
    seed: int


@dataclass(frozen=True)
class PerWorker:
    """Data that is divided among the workers already, as declared with `per_worker`.

    A worker's batches are its part of the global batches: with workers that give 5, 5 and 3
    examples in a step, the global batch has 13. A worker whose data ends earlier takes part with 0
    examples until the others have ended.

    Attributes:
        function: makes the dataset of a worker and an epoch.
    """

    function: Callable[[WorkerContext], tf.data.Dataset]

    def dataset(self, worker: int, workers: int, epoch: int, seed: int = 0) -> tf.data.Dataset:
        """Return the batches of one worker in one epoch, as its function gives them.

        Args:
            worker: number of the worker, from 0.
            workers: how many there are.
            epoch: number of the epoch, from 0.
            seed: of the whole run.

        Raises:
            UsageError: the function does not return a dataset.
            ValueError: there is no such worker.
        """
        import tensorflow as tf

        if not 0 <= worker < workers:
            raise ValueError(f"there is no worker {worker} among {workers}")
        dataset = self.function(WorkerContext(worker, workers, epoch, _mixed(seed, worker, epoch)))
        if not isinstance(dataset, tf.data.Dataset):
            raise UsageError(
                f"{self.name} returned {type(dataset).__name__} for worker {worker}, but a "
                "tf.data.Dataset of this worker's batches is expected: return one"
            )
        # A worker reads all that its function gives: TensorFlow must not divide it once more.
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
        return dataset.with_options(options)

    @property
    def name(self) -> str:
        """The name of the function, for people."""
        return f"{getattr(self.function, '__name__', 'the function')}() of tfdist.per_worker"

    def check(self, spec: Any, other: Any, worker: int) -> None:
        """Refuse a worker's batches that differ from those of worker 0 in more than their number.

        Args:
            spec: element_spec of worker 0.
            other: element_spec of `worker`.
            worker: number of the other worker.

        Raises:
            UsageError: they cannot be parts of one batch.
        """
        import tensorflow as tf

        try:
            tf.nest.assert_same_structure(spec, other)
            pairs = zip(tf.nest.flatten(spec), tf.nest.flatten(other), strict=True)
            fits = all(
                one.dtype == two.dtype and one.shape[1:] == two.shape[1:] for one, two in pairs
            )
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise UsageError(
                f"{self.name} gives batches of {spec} to worker 0 and of {other} to worker "
                f"{worker}: give all workers examples of one kind"
            )


def per_worker(function: Any) -> PerWorker:
    """Declare that each worker has data of its own.

    Args:
        function: function(context) returns a tf.data dataset of the batches of one worker in one
            epoch, where `context` has the attributes worker, workers, epoch and seed. Or a
            `keras.utils.PyDataset`, of whose items each worker makes every so manieth.

    Raises:
        UsageError: it cannot be called with one argument.
    """
    if hasattr(function, "__getitem__") and hasattr(function, "__len__"):
        return PerWorker(by_worker(function))
    if not callable(function):
        raise UsageError(
            f"tfdist.per_worker was given {type(function).__name__}, but a function of one "
            "argument is expected: give one that takes a context with worker, workers, epoch and "
            "seed"
        )
    try:
        inspect.signature(function).bind(None)
    except TypeError as error:
        raise UsageError(
            f"tfdist.per_worker was given a function that cannot be called with one argument "
            f"({error}): let it take the context, which has worker, workers, epoch and seed"
        ) from error
    return PerWorker(function)


def _mixed(seed: int, worker: int, epoch: int) -> int:
    """A seed that differs from others in every way."""
    import numpy as np

    return int(np.random.SeedSequence((seed, worker, epoch)).generate_state(1)[0])
