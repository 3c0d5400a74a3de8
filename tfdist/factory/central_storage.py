"""One process, the variables once in the host's memory, the steps on every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdist.factory.devices import Devices

if TYPE_CHECKING:
    import tensorflow as tf


def build(devices: Devices) -> tf.distribute.Strategy:
    """tf.distribute.experimental.CentralStorageStrategy over these devices.

    The host holds the variables of a single GPU too (TensorFlow's default there is the GPU itself),
    because this strategy is for variables that do not fit on a device.
    """
    import tensorflow as tf

    return tf.distribute.experimental.CentralStorageStrategy(
        compute_devices=list(devices.names), parameter_device="/device:CPU:0"
    )
