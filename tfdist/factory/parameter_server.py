"""A chief that schedules steps on workers, which read and update variables kept by ps tasks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tfdist.cluster import Cluster
from tfdist.factory.devices import Devices, Request
from tfdist.factory.resolver import position, resolver, spec
from tfdist.factory.shares import by_size

if TYPE_CHECKING:
    import tensorflow as tf


def build(cluster: Cluster) -> tf.distribute.Strategy:
    """tf.distribute.ParameterServerStrategy for the chief; every server must be up.

    A tf.distribute.coordinator.ClusterCoordinator made of it is the same one every time.
    """
    import tensorflow as tf

    from tfdist.factory.unlocked import keep_constants

    strategy = tf.distribute.ParameterServerStrategy(resolver(cluster, num_gpus=0))
    keep_constants(f"/job:{cluster.task.type}/replica:0/task:{position(cluster)}/device:CPU:0")
    by_size(strategy.extended, cluster.num_ps)
    return strategy


def start_server(cluster: Cluster, devices: Devices, request: Request) -> tf.distribute.Server:
    """The server of a worker or ps task."""
    import tensorflow as tf

    return tf.distribute.Server(
        spec(cluster),
        job_name=cluster.task.type,
        task_index=position(cluster),
        protocol="grpc",
        config=_config(cluster, devices, request),
    )


def _config(cluster: Cluster, devices: Devices, request: Request) -> tf.compat.v1.ConfigProto:
    import tensorflow as tf

    config = tf.compat.v1.ConfigProto()
    # A server whose threads all wait for others' answers answers nobody: with as many threads as
    # workers or fewer the cluster can hang.
    config.inter_op_parallelism_threads = max(os.cpu_count() or 1, cluster.num_workers + 1)
    if devices.kind == "CPU":
        config.device_count["GPU"] = 0
    elif request.numbers or request.count:
        numbers = request.numbers or range(devices.count)
        config.gpu_options.visible_device_list = ",".join(map(str, numbers))
    return config
