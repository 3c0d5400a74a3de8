"""The strategies that cases are played under, and how many replicas each has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import tensorflow as tf

_DEVICES = 3


@dataclass(frozen=True)
class Played:
    """A strategy of the suite.

    Attributes:
        replicas: Replicas that compute at the same time.
        make: Builds it in this process.
        workers, ps, chief: Tasks of its process group; none for one process.
    """

    replicas: int
    make: Callable[[], tf.distribute.Strategy]
    workers: int = 0
    ps: int = 0
    chief: bool = False

    @property
    def is_local(self) -> bool:
        """Whether it runs in one process."""
        return not self.workers


def _ours(name: str) -> Callable[[], tf.distribute.Strategy]:
    def make() -> tf.distribute.Strategy:
        import tfdist

        return tfdist.strategy(name, "cpu")

    return make


def _mirrored(count: int) -> Callable[[], tf.distribute.Strategy]:
    return lambda: tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(count)])


def _central() -> tf.distribute.Strategy:
    return tf.distribute.experimental.CentralStorageStrategy(["cpu:0", "cpu:1"], "cpu:0")


STRATEGIES = {
    "one_device": Played(1, tf.distribute.get_strategy),
    "mirrored": Played(2, _mirrored(2)),
    "mirrored_3": Played(3, _mirrored(3)),
    "central_storage": Played(2, _central),
    "multi_worker": Played(2, _ours("multi_worker"), workers=2),
    "parameter_server": Played(1, _ours("parameter_server"), workers=1, ps=1, chief=True),
    "parameter_server_2": Played(2, _ours("parameter_server"), workers=2, ps=2, chief=True),
}


def split_cpu() -> None:
    """Give TensorFlow the logical devices that the local strategies need; before it starts."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    if len(tf.config.get_logical_device_configuration(cpu) or ()) < _DEVICES:
        wanted = [tf.config.LogicalDeviceConfiguration()] * _DEVICES
        tf.config.set_logical_device_configuration(cpu, wanted)
