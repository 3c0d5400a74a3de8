"""The sum over tasks with 16 bits on the wire, added up in float32.

Each task sums a part of all values, which the others send it in 16 bits, and sends the sum to all
in 16 bits: half the bytes of an all-reduce in float32. Every task gets the same bits.
"""

from collections.abc import Callable

import tensorflow as tf

TYPES = {"bf16": tf.bfloat16, "fp16": tf.float16}

# Takes int32 [tasks, n], a row for each task; returns the rows that the tasks have for this one.
Exchange = Callable[[tf.Tensor], tf.Tensor]
# Takes int32 [n] and returns int32 [tasks * n], the parts of all tasks.
Gather = Callable[[tf.Tensor], tf.Tensor]


def sum_tasks(
    values: list[tf.Tensor], kind: str, tasks: int, exchange: Exchange, gather: Gather
) -> list[tf.Tensor]:
    """Return the sums over the tasks of float32 values.

    Args:
        values: Of this task.
        kind: "bf16" or "fp16".
        tasks: How many there are.
        exchange: Sends a row to each task.
        gather: Sends a row to all.
    """
    flat = tf.concat([tf.reshape(v, [-1]) for v in values], 0)
    size = tf.size(flat)
    even = 2 * tasks  # two numbers travel as one int32, which every transport knows
    padded = tf.pad(flat, [[0, -size % even]])
    rows = exchange(_packed(tf.cast(tf.reshape(padded, [tasks, -1]), TYPES[kind])))
    parts = tf.cast(_unpacked(tf.reshape(rows, [tasks, -1]), kind), tf.float32)
    total = parts[0]
    for task in range(1, tasks):
        total += parts[task]
    whole = _unpacked(gather(_packed(tf.cast(total, TYPES[kind]))), kind)
    sums = tf.split(tf.cast(whole[:size], tf.float32), [tf.size(v) for v in values])
    return [tf.reshape(s, tf.shape(v)) for s, v in zip(sums, values, strict=True)]


def _packed(numbers: tf.Tensor) -> tf.Tensor:
    shape = tf.shape(numbers)
    pairs = tf.concat([shape[:-1], [shape[-1] // 2, 2]], 0)
    return tf.bitcast(tf.reshape(numbers, pairs), tf.int32)


def _unpacked(packed: tf.Tensor, kind: str) -> tf.Tensor:
    pairs = tf.bitcast(packed, TYPES[kind])
    shape = tf.shape(packed)
    return tf.reshape(pairs, tf.concat([shape[:-1], [shape[-1] * 2]], 0))
