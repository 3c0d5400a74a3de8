"""The sum over tasks as operations of a TensorFlow graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.factory.mpi import World
from tfdist.transport.mpi.buckets import Bucket, fill
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
    if len(buckets) == 1:
        found = _at_once(carrier, buckets[0], added)
    else:
        found = _in_turn(carrier, buckets, added)
    for i, total in found.items():
        total.set_shape(added[i].shape)
        found[i] = tf.cast(total, values[i].dtype)
    return found


def _in_turn(
    carrier: Carrier, buckets: list[Bucket], added: dict[int, tf.Tensor]
) -> dict[int, tf.Tensor]:
    """Start all buckets, each as soon as it is full but in this order, then wait for each."""
    started: list[tf.Tensor] = []
    for number, bucket in enumerate(buckets):
        with tf.control_dependencies(started[-1:]):
            started.append(_start(carrier, number, bucket, added))
    found: dict[int, tf.Tensor] = {}
    after = started[-1]
    for number, bucket in enumerate(buckets):
        with tf.control_dependencies([after]):
            sums = _finish(carrier, number, bucket, added)
        after = next(iter(sums.values()))
        found.update(sums)
    return found


def _start(carrier: Carrier, number: int, bucket: Bucket, added: dict[int, tf.Tensor]) -> tf.Tensor:
    def start(*arrays: Any) -> Any:
        carrier.start(number, bucket, list(map(np.asarray, arrays)))
        return np.int32(number)

    return tf.numpy_function(start, [added[i] for i in _places(bucket)], tf.int32)


def _finish(
    carrier: Carrier, number: int, bucket: Bucket, added: dict[int, tf.Tensor]
) -> dict[int, tf.Tensor]:
    places = _places(bucket)
    sums = tf.numpy_function(lambda: carrier.finish(number), [], [added[i].dtype for i in places])
    return _by_place(places, sums)


def _at_once(carrier: Carrier, bucket: Bucket, added: dict[int, tf.Tensor]) -> dict[int, tf.Tensor]:
    """Sum the only bucket: with nothing to compute meanwhile, one operation does it."""
    places = _places(bucket)

    def both(*arrays: Any) -> list[np.ndarray]:
        carrier.start(0, bucket, list(map(np.asarray, arrays)))
        return carrier.finish(0)

    sums = tf.numpy_function(both, [added[i] for i in places], [added[i].dtype for i in places])
    return _by_place(places, sums)


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


def _by_place(places: Sequence[int], sums: Any) -> dict[int, tf.Tensor]:
    """Pair places with sums; TensorFlow returns a single result without a list, or with one."""
    return dict(zip(places, tf.nest.flatten(sums), strict=True))


def _places(bucket: Bucket) -> Sequence[int]:
    return [place for message in bucket for place in message.places]


def _as_added(value: tf.Tensor) -> tf.Tensor:
    return tf.cast(value, _ADDED_AS.get(value.dtype, value.dtype))


def _size_bytes(value: tf.Tensor) -> int | None:
    number = value.shape.num_elements()
    return None if number is None else number * value.dtype.size
