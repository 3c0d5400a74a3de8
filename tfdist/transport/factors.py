"""The sum over tasks of matrix gradients, sent as the two factors that they are products of.

The gradient of a kernel is `x^T dy`: of few rows, where a batch is small beside the kernel. To send
those rows and multiply those of all replicas at once takes fewer bytes than to sum the products,
and gives what one device computes from the whole batch.
"""

from collections.abc import Iterator, Sequence

import tensorflow as tf

from tfdist.factory.wire import wire_of
from tfdist.transport import narrow
from tfdist.transport.replicas import join, place
from tfdist.transport.sums import join_replicas

_COLUMNS = 1024  # what travels is filled up to whole rows of so many numbers
_GAIN = 2  # times fewer bytes from which on factors are sent
_USUAL_ROWS = 128  # of a replica, where their number is known only in the step


def pays(rows: int | None, inputs: int, outputs: int, replicas: int) -> bool:
    """Return whether the factors of a kernel are far smaller than what an all-reduce carries."""
    factors = (rows or _USUAL_ROWS) * (inputs + outputs) * (replicas - 1)
    whole = 2 * inputs * outputs * (replicas - 1) / replicas
    return factors * _GAIN <= whole


def sends_factors(strategy: tf.distribute.Strategy) -> bool:
    """Return whether a strategy was asked to send factors."""
    wire = wire_of(strategy)
    return wire is not None and wire.factors


def multiply(strategy: tf.distribute.Strategy, factors: Sequence) -> list[tf.Tensor]:
    """Return the products of the factors of all replicas, the same bits on every task.

    Args:
        strategy: Whose replicas they come from, spread over tasks.
        factors: For each kernel in turn the inputs [rows, n] and the gradient of the outputs
            [rows, m], float32, as `strategy.run` returned them. They travel in 16 bits where that
            was asked for.
    """
    if not factors:
        return []
    _, tasks = place(strategy)
    wire = wire_of(strategy)
    bits = "" if wire is None else wire.bits
    with tf.device(strategy.extended.worker_devices[0]):
        mine = [join(strategy, factor) for factor in factors]
        whole = tf.reshape(join_replicas(strategy, _packed(mine, bits)), [-1])
        parts = list(_unpacked(whole, [m.shape[1] for m in mine], tasks, bits))
        joined = [tf.concat(of_all, 0) for of_all in zip(*parts, strict=True)]
        pairs = zip(joined[::2], joined[1::2], strict=True)
        return [tf.matmul(x, dy, transpose_a=True) for x, dy in pairs]


def _packed(factors: list[tf.Tensor], bits: str = "") -> tf.Tensor:
    """Return factors as rows of int32: how many rows each has, then all of them."""
    rows = tf.stack([tf.shape(f)[0] for f in factors])
    numbers = tf.concat([tf.reshape(f, [-1]) for f in factors], 0)
    numbers = tf.pad(numbers, [[0, -tf.size(numbers) % 2]])
    words = narrow.packed(numbers, bits) if bits else tf.bitcast(numbers, tf.int32)
    flat = tf.concat([rows, words], 0)
    return tf.reshape(tf.pad(flat, [[0, -tf.size(flat) % _COLUMNS]]), [-1, _COLUMNS])


def _unpacked(
    whole: tf.Tensor, widths: list[int], tasks: int, bits: str = ""
) -> Iterator[list[tf.Tensor]]:
    """Return the factors of each task in turn."""
    start = tf.constant(0)
    for _ in range(tasks):
        begin = start + len(widths)
        sizes = whole[start:begin] * widths
        size = tf.reduce_sum(sizes)
        even = size + size % 2
        end = begin + (even // 2 if bits else even)
        words = whole[begin:end]
        numbers = narrow.unpacked(words, bits) if bits else tf.bitcast(words, tf.float32)
        flat = tf.split(numbers[:size], sizes, num=len(widths))
        yield [tf.reshape(f, [-1, width]) for f, width in zip(flat, widths, strict=True)]
        start = end + -end % _COLUMNS  # each task's begin a row
