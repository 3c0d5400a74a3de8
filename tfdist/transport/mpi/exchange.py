"""The sum over tasks as operations of a TensorFlow graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.factory.mpi import World
from tfdist.transport.mpi.buckets import fill
from tfdist.transport.mpi.carrier import Carrier
from tfdist.transport.mpi.line import Line, check_same

# What MPI cannot add, and what it is added as.
_ADDED_AS = {tf.float16: tf.float32, tf.bfloat16: tf.float32, tf.bool: tf.int32}


def sum_tasks(world: World, values: list) -> list:
    """Return the sum over all tasks of each of these tensors or IndexedSlices.

    Dense values travel in buckets, in the order in which the graph yields them, while it goes on
    computing. IndexedSlices are brought together in the order of the tasks, which gives the rows
    that one device would have got from the whole batch.
    """
    line = Line(world)
    order = _order(values)
    if not tf.executing_eagerly():
        line = line.apart()
        order = _agreed(line, values, order)
    carrier = Carrier(line)
    with tf.device("/device:CPU:0"):
        dense = [i for i in order if not isinstance(values[i], tf.IndexedSlices)]
        sums = _sum_dense(carrier, values, dense)
        for i in order:
            if isinstance(values[i], tf.IndexedSlices):
                sums[i] = _gather(carrier, values[i])
    return [sums[i] for i in range(len(values))]


def join_tasks(world: World, value: tf.Tensor) -> tf.Tensor:
    """Return the rows of all tasks, in the order of the tasks, on every task."""
    line = Line(world)
    with tf.device("/device:CPU:0"):
        return _rows(Carrier(line if tf.executing_eagerly() else line.apart()), value)[0]


def rows(world: World) -> tuple[Callable, Callable]:
    """Return what sends a row to each task, and what sends one to all, for `narrow`."""
    line = Line(world)
    carrier = Carrier(line if tf.executing_eagerly() else line.apart())

    def exchange(values: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(lambda a: carrier.exchange(np.asarray(a)), [values], values.dtype)

    def gather(value: tf.Tensor) -> tf.Tensor:
        with tf.device("/device:CPU:0"):
            return _rows(carrier, tf.ensure_shape(value, [None]))[0]

    return exchange, gather


def _order(values: list) -> list[int]:
    """Return the places of values in the order in which backpropagation yields them.

    That is the order in which its operations were made: the last layer comes first. One compiled
    operation yields all at once.
    """
    if tf.executing_eagerly():
        return list(reversed(range(len(values))))
    graph = tf.compat.v1.get_default_graph()
    made = {op.name: i for i, op in enumerate(graph.get_operations())}

    def when(place: int) -> tuple[int, int]:
        value = values[place]
        tensor = (
            value.values if isinstance(value, tf.IndexedSlices) else tf.convert_to_tensor(value)
        )
        return made.get(tensor.op.name, -1), -place

    return sorted(range(len(values)), key=when)


def _agreed(line: Line, values: list, order: list[int]) -> list[int]:
    """Return the first task's order, once all tasks are known to sum the same."""
    told = [f"{type(v).__name__} {v.dtype.name} {v.shape}" for v in values]
    digest = hashlib.sha256("\n".join(told).encode()).digest()
    check_same(line, int.from_bytes(digest[:7], "big"))
    return list(map(int, line.gather_numbers(np.array(order, np.int64))[0]))


def _sum_dense(carrier: Carrier, values: list, places: list[int]) -> dict[int, tf.Tensor]:
    added = {i: _as_added(tf.convert_to_tensor(values[i])) for i in places}
    buckets = fill([(i, added[i].dtype.name, _size_bytes(added[i])) for i in places])
    # Packed by TensorFlow: each tensor that a Python operation takes or gives costs several us.
    sent = [[_packed([added[i] for i in message.places]) for message in b] for b in buckets]
    found: dict[int, tf.Tensor] = {}
    for bucket, sums in zip(buckets, _in_turn(carrier, sent), strict=True):
        for message, total in zip(bucket, sums, strict=True):
            parts = _unpacked(total, [added[i] for i in message.places])
            found |= zip(message.places, parts, strict=True)
    return {i: tf.cast(total, values[i].dtype) for i, total in found.items()}


def _packed(values: list[tf.Tensor]) -> tf.Tensor:
    return values[0] if len(values) == 1 else tf.concat([tf.reshape(v, [-1]) for v in values], 0)


def _unpacked(total: tf.Tensor, like: list[tf.Tensor]) -> list[tf.Tensor]:
    if len(like) == 1:
        return [tf.ensure_shape(total, like[0].shape)]
    parts = tf.split(total, [v.shape.num_elements() for v in like])
    return [tf.reshape(part, v.shape) for part, v in zip(parts, like, strict=True)]


def _in_turn(carrier: Carrier, sent: list[list[tf.Tensor]]) -> list[list[tf.Tensor]]:
    """Start all buckets, each as soon as it is full but in this order, then wait for each.

    The last is started and waited for by one operation: nothing is computed between the two.
    """
    after: list[tf.Tensor] = []
    for number, messages in enumerate(sent[:-1]):
        with tf.control_dependencies(after):
            after = [_start(carrier, number, messages)]
    last = len(sent) - 1
    with tf.control_dependencies(after):
        sums = [_at_once(carrier, last, sent[last])] if sent else []
    for number, messages in enumerate(sent[:-1]):
        with tf.control_dependencies(sums[-1][:1]):
            sums.append(_finish(carrier, number, messages))
    return [*sums[1:], *sums[:1]]


def _start(carrier: Carrier, number: int, messages: list[tf.Tensor]) -> tf.Tensor:
    def start(*arrays: Any) -> Any:
        carrier.start(number, list(map(np.asarray, arrays)))
        return np.int32(number)

    return tf.numpy_function(start, messages, tf.int32)


def _finish(carrier: Carrier, number: int, messages: list[tf.Tensor]) -> list[tf.Tensor]:
    types = [m.dtype for m in messages]
    return tf.nest.flatten(tf.numpy_function(lambda: carrier.finish(number), [], types))


def _at_once(carrier: Carrier, number: int, messages: list[tf.Tensor]) -> list[tf.Tensor]:
    def both(*arrays: Any) -> list[np.ndarray]:
        carrier.start(number, list(map(np.asarray, arrays)))
        return carrier.finish(number)

    # TensorFlow returns a single result without a list.
    return tf.nest.flatten(tf.numpy_function(both, messages, [m.dtype for m in messages]))


def _gather(carrier: Carrier, value: tf.IndexedSlices) -> tf.IndexedSlices:
    values, indices = _rows(carrier, value.values, value.indices)
    return tf.IndexedSlices(values, indices, value.dense_shape)


def _rows(carrier: Carrier, *mine: tf.Tensor) -> list[tf.Tensor]:
    """Return the rows of all tasks of each tensor, however many each task has."""
    sent = [_as_added(v) for v in mine]

    def together(*arrays: Any) -> list[np.ndarray]:
        return [carrier.gather(np.asarray(array)) for array in arrays]

    found = tf.nest.flatten(tf.numpy_function(together, sent, [v.dtype for v in sent]))
    for rows, own in zip(found, mine, strict=True):
        rows.set_shape([None, *own.shape[1:]])
    return [tf.cast(rows, own.dtype) for rows, own in zip(found, mine, strict=True)]


def _as_added(value: tf.Tensor) -> tf.Tensor:
    return tf.cast(value, _ADDED_AS.get(value.dtype, value.dtype))


def _size_bytes(value: tf.Tensor) -> int | None:
    number = value.shape.num_elements()
    return None if number is None else number * value.dtype.size
