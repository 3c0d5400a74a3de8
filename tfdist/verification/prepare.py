"""The arguments of `tfdist.verify`: checked, and filled in where they were not given."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.factory.context import last
from tfdist.verification.batches import Batches
from tfdist.verification.settings import check_steps
from tfdist.verification.tasks import Tasks
from tfdist.verification.trial import Trial


def prepare(
    build: Any, dataset: Any, strategy: Any, compile: Any, steps: int, seed: int | None
) -> Trial:
    """Check the arguments of `tfdist.verify`, and fill in what was not given.

    Raises:
        UsageError: one of them is not what it must be.
    """
    if not callable(build) or isinstance(build, keras.Model):
        raise UsageError(
            f"tfdist.verify() takes a function that returns a new model each time, but received "
            f"{type(build).__name__}: give the function that builds it"
        )
    check_steps("steps", steps)
    strategy = _current_strategy() if strategy is None else strategy
    batches = Batches(dataset, steps, strategy.num_replicas_in_sync)
    if seed is None:
        context = last()
        seed = (context.seed if context is not None else None) or 0
    return Trial(build, compile, batches, seed, strategy, Tasks(strategy))


def _current_strategy() -> tf.distribute.Strategy:
    if tf.distribute.has_strategy():
        return tf.distribute.get_strategy()
    context = last()
    if context is None:
        raise UsageError(
            "no strategy was built in this process: call tfdist.strategy() first, or give strategy="
        )
    return context.strategy
