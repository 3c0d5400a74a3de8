"""Several processes in step, a copy of the variables on each device, gradients all-reduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.cores import separate
from tfdist.cluster.processor import cores
from tfdist.cluster.variables import variable
from tfdist.errors import UsageError
from tfdist.factory import mpi, roads, sigterm
from tfdist.factory.alike import check_alike
from tfdist.factory.devices import Devices
from tfdist.factory.resolver import resolver
from tfdist.factory.wire import Wire, lay

if TYPE_CHECKING:
    import tensorflow as tf

_RING_THREADS = 2
TRANSPORTS = ("auto", "ring", "nccl", "mpi")


def check_transport(transport: str, devices: Devices) -> None:
    """Refuse a transport that is unknown or that these devices cannot use.

    Raises:
        UsageError: it is one of these.
    """
    if transport not in TRANSPORTS:
        raise UsageError(
            f"transport {transport!r} is unknown: choose one of {', '.join(TRANSPORTS)}."
        )
    if transport == "nccl" and devices.kind != "GPU":
        raise UsageError(f"transport 'nccl' is for GPUs, and there is {devices}: use ring or auto.")
    if transport == "mpi":
        mpi.check_started()


def build(
    cluster: Cluster, devices: Devices, transport: str, compression: str, channel: Channel
) -> tf.distribute.Strategy:
    """tf.distribute.MultiWorkerMirroredStrategy for this task of the cluster.

    TensorFlow waits for an hour, deaf to signals, for tasks that are missing: meet them before.
    """
    import tensorflow as tf

    from tfdist.factory.initial import send_every_type
    from tfdist.factory.unlocked import unlocked

    separate(cluster, channel)
    if transport != "mpi":
        _let_ring_go_on()
    # With MPI there is little left for TensorFlow to carry: outputs, and values at the start.
    by_mpi = transport == "mpi"
    if transport == "auto":
        seen = channel.gather("ranks of MPI", mpi.ranks(devices))
        by_mpi = set(seen) == {cluster.num_workers} and cluster.num_workers > 1
    own = "AUTO" if by_mpi else transport.upper()
    implementation = tf.distribute.experimental.CommunicationImplementation(own)
    with sigterm.kept(), unlocked():
        strategy = tf.distribute.MultiWorkerMirroredStrategy(
            cluster_resolver=resolver(cluster, devices.count if devices.kind == "GPU" else 0),
            communication_options=tf.distribute.experimental.CommunicationOptions(
                implementation=implementation
            ),
        )
    send_every_type(strategy)
    road = "TensorFlow's choice" if transport == "auto" else transport
    if by_mpi:
        world = mpi.connect(cluster, channel)
        if transport == "auto":
            transport, road = roads.measure(strategy, world)
        if transport == "mpi":
            mpi.enter(strategy, world)
    wire = Wire(road, compression)
    if wire.factors:
        check_alike(cluster, channel)
    lay(strategy, wire)
    return strategy


def _let_ring_go_on() -> None:
    """Give TensorFlow a second thread between operations: with one, its ring waits for ever."""
    import tensorflow as tf

    told = variable("TF_NUM_INTEROP_THREADS") or ""
    asked = tf.config.threading.get_inter_op_parallelism_threads()
    if (asked or (int(told) if told.isdecimal() else 0) or cores()) == 1:
        tf.config.threading.set_inter_op_parallelism_threads(_RING_THREADS)
