"""`tfdist.strategy()`: from a name, or none, to the strategy this process trains with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfdist.cluster import Channel, Cluster
from tfdist.errors import UsageError
from tfdist.factory import (
    central_storage,
    mirrored,
    multi_worker,
    one_device,
    parameter_server,
    seeds,
)
from tfdist.factory.choice import IN_A_CLUSTER
from tfdist.factory.context import Context, last, remember
from tfdist.factory.hardware import apply
from tfdist.factory.joining import join
from tfdist.factory.planning import Plan, plan

if TYPE_CHECKING:
    import tensorflow as tf


def strategy(
    name: str = "auto",
    devices: str | None = None,
    *,
    cluster: Cluster | None = None,
    seed: int | None = None,
    transport: str = "auto",
    needs_bytes: int | None = None,
    wait_seconds: float = 300,
) -> tf.distribute.Strategy:
    """Build the tf.distribute strategy for this process: call it before TensorFlow does anything.

    In a task that only serves (a ps, or a worker under parameter servers) it serves until the
    chief has finished, and then ends the process with the chief's code. Called again with the same
    arguments it gives the same strategy again.

    Args:
        name: One of `tfdist.factory.NAMES`; "auto" chooses by cluster and devices.
        devices: `cpu`, `cpu:2` (two logical CPUs), `gpu`, `gpu:4` or `gpu:0,2`, for each process;
            by default all GPUs, or else the CPU.
        cluster: By default what the environment describes (TF_CONFIG, a scheduler), else one
            process.
        seed: Seeds Python, NumPy, TensorFlow and Keras. None leaves them alone in one process;
            where several workers run the same script, and so must draw the same weights and
            shuffles, it means 0.
        transport: How gradients travel between workers: "auto", "ring", "nccl" or "mpi".
        needs_bytes: Memory of the model's variables and optimizer slots in bytes, if it is known:
            "auto" takes central storage when they do not fit on each device.
        wait_seconds: How long to wait for the other tasks of the cluster.

    Raises:
        UsageError: the arguments, the cluster and the devices do not fit together, the tasks
            differ in what they must agree on, or TensorFlow already ran in this process.
        StartAgainError: another task did not come in time.
    """
    _check_backend()
    seeds.check(seed)
    planned = plan(name, devices, cluster=cluster, needs_bytes=needs_bytes)
    multi_worker.check_transport(transport, planned.devices)
    context = last()
    if context is None or not context.is_what(planned, transport):
        built, channel = _build(planned, seed, transport, wait_seconds)
        context = Context(planned, transport, built, channel)
    context = replace(context, plan=planned, seed=seeds.agreed(seed, planned.cluster))
    seeds.sow(context.seed)
    remember(context)
    return context.strategy


def _build(
    planned: Plan, seed: int | None, transport: str, wait_seconds: float
) -> tuple[tf.distribute.Strategy, Channel | None]:
    name, cluster, devices = planned.choice.name, planned.cluster, planned.devices
    if name in IN_A_CLUSTER:
        channel = join(planned, seed, transport, wait_seconds)
        if name == "parameter_server":
            return parameter_server.build(cluster), channel
        return multi_worker.build(cluster, devices, transport, channel), channel
    apply(planned.request)
    if name == "one_device":
        return one_device.build(), None
    if name == "central_storage":
        return central_storage.build(devices), None
    return mirrored.build(devices), None


def _check_backend() -> None:
    import keras

    if keras.config.backend() != "tensorflow":
        raise UsageError(
            f"Keras runs on {keras.config.backend()!r} and tf.distribute needs TensorFlow: set the "
            "environment variable KERAS_BACKEND to tensorflow."
        )
