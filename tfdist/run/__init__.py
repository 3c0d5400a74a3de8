"""One training run: from its settings to its record. Imports TensorFlow when called."""

from typing import Any

from tfdist.cluster import Cluster, resolve
from tfdist.errors import UsageError
from tfdist.run.loading import load_tensorflow
from tfdist.run.settings import Settings

__all__ = ["Settings", "train"]


def train(settings: Settings, cluster: Cluster | None = None) -> dict[str, Any]:
    """Train as the settings say, show it on standard output, and return the run record.

    An evaluator evaluates the checkpoints of those that train.

    Call it before TensorFlow does anything. In a task that only serves it does not return.

    Args:
        settings: What to train, where and how.
        cluster: By default what the environment describes, else this machine alone.

    Raises:
        UsageError: what was asked for cannot be done.
        StartAgainError: another task of the cluster did not come in time, or is lost.
    """
    cluster = resolve() if cluster is None else cluster
    if cluster.is_evaluator and settings.checkpoint_dir is None:
        raise UsageError(
            f"{cluster.source} makes this process {cluster.task}, which evaluates checkpoints: "
            "give --checkpoint_dir, or do not start it"
        )
    load_tensorflow()
    if cluster.is_evaluator:
        from tfdist.run import evaluator

        return evaluator.run(settings, cluster)
    from tfdist.run import job

    return job.run(settings, cluster)
