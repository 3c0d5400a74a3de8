"""Does a model train under a strategy with the numbers of one device? Imports TensorFlow late."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfdist.cluster import Cluster
from tfdist.run.loading import load_tensorflow
from tfdist.verification.report import Cause, Comparison, Report, Row
from tfdist.verification.settings import STEPS, VerifySettings

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

__all__ = ["Cause", "Comparison", "Report", "Row", "VerifySettings", "run", "verify"]


def verify(
    build: Callable[[], keras.Model],
    dataset: tf.data.Dataset,
    *,
    strategy: tf.distribute.Strategy | None = None,
    compile: Callable[[keras.Model], Any] | None = None,
    steps: int = STEPS,
    seed: int | None = None,
) -> Report:
    """Train a model on one device and under a strategy with the same batches, and compare.

    Every task of a synchronous cluster calls it with the same arguments, and gets a report.

    Args:
        build: Returns a new model each time; it is called under the scope of the strategy, and
            outside of it.
        dataset: Global batches. The last batch is made one example shorter, so that the replicas'
            shares are unequal, unless batches have a fixed size.
        strategy: By default that of the scope, or the last that `tfdist.strategy()` built.
        compile: Compiles the model it is given; needed when build() returns one that is not.
        steps: Number of batches to train on.
        seed: Of all random numbers; by default that of `tfdist.strategy()`, or 0.

    Raises:
        UsageError: an argument is not what it must be.
    """
    from tfdist.verification import judge
    from tfdist.verification.prepare import prepare

    return judge.judge(prepare(build, dataset, strategy, compile, steps, seed))


def run(settings: VerifySettings, cluster: Cluster) -> Report:
    """Verify what the settings of a training say, in this task of the cluster.

    Call it before TensorFlow does anything. In a task that only serves it does not return.

    Raises:
        UsageError: what was asked for cannot be done.
        StartAgainError: another task of the cluster did not come in time, or is lost.
    """
    load_tensorflow()
    from tfdist.verification import job

    return job.run(settings, cluster)
