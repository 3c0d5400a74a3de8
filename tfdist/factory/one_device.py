"""Plain Keras on one device: the reference of every comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tensorflow as tf


def build() -> tf.distribute.Strategy:
    """TensorFlow's default strategy, under which Keras runs as without any: one device, the first.

    (tf.distribute.OneDeviceStrategy wraps what Keras reads and writes; nothing may differ here.)
    """
    import tensorflow as tf

    return tf.distribute.get_strategy()
