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
    rows = exchange(packed(tf.reshape(padded, [tasks, -1]), kind))
    parts = unpacked(tf.reshape(rows, [tasks, -1]), kind)
    total = parts[0]
    for task in range(1, tasks):
        total += parts[task]
    whole = unpacked(gather(packed(total, kind)), kind)
    sums = tf.split(whole[:size], [tf.size(v) for v in values])
    return [tf.reshape(s, tf.shape(v)) for s, v in zip(sums, values, strict=True)]


def packed(numbers: tf.Tensor, kind: str) -> tf.Tensor:
    """Return float32 [..., 2 n] in 16 bits, two in each int32 [..., n]."""
    narrow = tf.cast(numbers, TYPES[kind])
    shape = tf.shape(narrow)
    pairs = tf.concat([shape[:-1], [shape[-1] // 2, 2]], 0)
    return tf.bitcast(tf.reshape(narrow, pairs), tf.int32)


def unpacked(words: tf.Tensor, kind: str) -> tf.Tensor:
    """Return the float32 [..., 2 n] of int32 [..., n]."""
    pairs = tf.bitcast(words, TYPES[kind])
    shape = tf.shape(words)
    narrow = tf.reshape(pairs, tf.concat([shape[:-1], [shape[-1] * 2]], 0))
    return tf.cast(narrow, tf.float32)
