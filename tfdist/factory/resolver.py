"""A Cluster as the objects in which TensorFlow takes one; the environment is not read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdist.cluster import Cluster

if TYPE_CHECKING:
    import tensorflow as tf

# An evaluator takes no part in the training, and TensorFlow would wait for it.
_JOBS = ("chief", "worker", "ps")


def spec(cluster: Cluster) -> tf.train.ClusterSpec:
    """The addresses of all tasks but the evaluators.

    TensorFlow counts tasks from 0 without gaps (its leader is worker 0), and a cluster may leave
    indices out, so that here a task's index is its position in its job.
    """
    import tensorflow as tf

    jobs = {job: _addresses(cluster, job) for job in _JOBS if job in cluster.jobs}
    return tf.train.ClusterSpec(jobs)


def position(cluster: Cluster) -> int:
    """The index of this task in `spec`."""
    return sorted(cluster.jobs[cluster.task.type]).index(cluster.task.index)


def resolver(cluster: Cluster, num_gpus: int) -> tf.distribute.cluster_resolver.ClusterResolver:
    """The cluster with this task's place in it and the number of its GPUs."""
    import tensorflow as tf

    return tf.distribute.cluster_resolver.SimpleClusterResolver(
        spec(cluster),
        task_type=cluster.task.type,
        task_id=position(cluster),
        num_accelerators={"GPU": num_gpus},
        rpc_layer="grpc",
    )


def _addresses(cluster: Cluster, job: str) -> list[str]:
    return [address for _, address in sorted(cluster.jobs[job].items())]
