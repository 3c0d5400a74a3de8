"""Do all tasks round a matrix product alike, to the last bit?"""

from __future__ import annotations

import hashlib

from tfdist.cluster import Channel, Cluster
from tfdist.cluster.processor import cores
from tfdist.errors import UsageError

_SHAPES = ((128, 784, 2048), (64, 1000, 1024), (7, 512, 384))  # rows, inputs, outputs


def check_alike(cluster: Cluster, channel: Channel) -> None:
    """Make sure that what each task multiplies for itself is the same in all of them.

    Each multiplies the same matrices by the same kernel as a gradient, and their bits are compared:
    processors of two kinds, or other numbers of threads, add up in another order.

    Raises:
        UsageError: two tasks have other bits.
    """
    told = channel.gather("bits of a product", [_digest(), cores()])
    for number, (digest, count) in enumerate(told):
        if digest != told[0][0]:
            first, other = cluster.workers[0], cluster.workers[number]
            raise UsageError(
                f"compression 'factors' lets each worker multiply for itself, and {other} "
                f"({count} cores) rounds otherwise than {first} ({told[0][1]} cores): their "
                "weights would drift apart, so give workers of one kind with equal threads, or "
                "another compression."
            )


def _digest() -> str:
    import numpy as np
    import tensorflow as tf

    @tf.function(autograph=False)
    def product(x: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, dy, transpose_a=True)

    random = np.random.default_rng(0)
    found = hashlib.sha256()
    for rows, inputs, outputs in _SHAPES:
        x, dy = (random.standard_normal((rows, n), np.float32) for n in (inputs, outputs))
        found.update(product(tf.constant(x), tf.constant(dy)).numpy().tobytes())
    return found.hexdigest()
