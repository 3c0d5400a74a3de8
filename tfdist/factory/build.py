"""`tfdist.strategy()`: from a name, or none, to the strategy this process trains with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.pulse import PULSE
from tfdist.cluster.watchdog import Watchdog
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
from tfdist.factory.creation import compare_variables, comparison
from tfdist.factory.ending import end_with_code_of_error
from tfdist.factory.failures import connecting
from tfdist.factory.hardware import apply
from tfdist.factory.joining import join
from tfdist.factory.planning import Plan, plan
from tfdist.factory.wire import check_compression, wire_of

if TYPE_CHECKING:
    import tensorflow as tf


def strategy(
    name: str = "auto",
    devices: str | None = None,
    *,
    cluster: Cluster | None = None,
    seed: int | None = None,
    transport: str = "auto",
    compression: str = "none",
    needs_bytes: int | None = None,
    wait_seconds: float = 300,
    stall_seconds: float = 120,
    same: Mapping[str, Any] | None = None,
) -> tf.distribute.Strategy:
    """Build the tf.distribute strategy for this process: call it before TensorFlow does anything.

    In a task that only serves (a ps, or a worker under parameter servers) it serves until the
    chief has finished, and then ends the process with the chief's code. Called again with the same
    arguments it gives the same strategy again. From the first call on an error of tfdist that a
    script does not catch ends the process by its sentence alone, with exit code 2 or 75.

    Args:
        name: One of `tfdist.factory.NAMES`; "auto" chooses by cluster and devices.
        devices: `cpu`, `cpu:2` (two logical CPUs), `gpu`, `gpu:4` or `gpu:0,2`, for each process;
            by default all GPUs, or else the CPU.
        cluster: By default what the environment describes (TF_CONFIG, a scheduler), else one
            process.
        seed: Seeds Python, NumPy, TensorFlow and Keras. None leaves them alone in one process;
            where several workers run the same script, and so must draw the same weights and
            shuffles, it means 0.
        transport: How gradients travel between workers: "ring" or "nccl" (TensorFlow's own), "mpi",
            or "auto": the faster of ring and mpi where MPI started the processes (measured), else
            TensorFlow's choice.
        compression: "none"; "factors": the gradients of large Dense kernels travel as the two small
            matrices of which each is the product, with the numbers of one device; or gradients in
            16 bits between workers, "bf16" or "fp16", added up in float32. The numbers are then
            those of one device to 3 or 4 digits only. "factors+bf16" and "factors+fp16" are both.
        needs_bytes: Memory of the model's variables and optimizer slots in bytes, if it is known:
            "auto" takes central storage when they do not fit on each device.
        wait_seconds: How long to wait for the other tasks of the cluster.
        stall_seconds: From then on, how long a task may be silent, or make no step while others
            wait for it, until all end with exit code 75 and say which one it was. What takes its
            time (the first step, callbacks, saving) may take ten times as long; inf for no limit.
        same: What else must be the same in every task, by name, as JSON values.

    Raises:
        UsageError: the arguments, the cluster and the devices do not fit together, the tasks
            differ in what they must agree on, or TensorFlow already ran in this process.
        StartAgainError: another task did not come in time.
    """
    end_with_code_of_error()
    _check_backend()
    seeds.check(seed)
    _check_seconds(stall_seconds)
    planned = plan(name, devices, cluster=cluster, needs_bytes=needs_bytes)
    multi_worker.check_transport(transport, planned.devices)
    check_compression(compression, transport)
    context = last()
    if context is None or not context.is_what(planned, transport, compression):
        facts = {"transport": transport, "compression": compression, "seed": seed, **(same or {})}
        built, channel, watchdog = _build(planned, facts, wait_seconds, stall_seconds)
        wire = wire_of(built)
        context = Context(
            planned,
            transport,
            built,
            channel,
            watchdog,
            compression=compression,
            road=None if wire is None else wire.road,
        )
    context = replace(context, plan=planned, seed=seeds.agreed(seed, planned.cluster))
    seeds.sow(context.seed)
    remember(context)
    return context.strategy


def _build(
    planned: Plan,
    facts: Mapping[str, Any],
    wait_seconds: float,
    stall_seconds: float,
) -> tuple[tf.distribute.Strategy, Channel | None, Watchdog | None]:
    if planned.choice.name not in IN_A_CLUSTER:
        apply(planned.request)
        return _of_one_process(planned), None, None
    channel, watchdog = join(planned, facts, wait_seconds, stall_seconds)
    compared = comparison(planned.cluster, channel, watchdog)
    doing = PULSE.doing("connects to the others", together=True)
    with doing, connecting(planned.cluster, channel, watchdog):
        if planned.choice.name == "parameter_server":
            return parameter_server.build(planned.cluster), channel, watchdog
        wire = facts["transport"], facts["compression"]
        built = multi_worker.build(planned.cluster, planned.devices, *wire, channel)
    compare_variables(built, compared)
    return built, channel, watchdog


def _of_one_process(planned: Plan) -> tf.distribute.Strategy:
    if planned.choice.name == "one_device":
        return one_device.build()
    if planned.choice.name == "central_storage":
        return central_storage.build(planned.devices)
    return mirrored.build(planned.devices)


def _check_seconds(stall_seconds: float) -> None:
    if not stall_seconds > 0:
        raise UsageError(
            f"stall_seconds is {stall_seconds}, but must be above 0: give one such as 120, or inf"
        )


def _check_backend() -> None:
    import keras

    if keras.config.backend() != "tensorflow":
        raise UsageError(
            f"Keras runs on {keras.config.backend()!r} and tf.distribute needs TensorFlow: set the "
            "environment variable KERAS_BACKEND to tensorflow."
        )
