"""The sum over tasks by TensorFlow's own means: RING or NCCL."""

import itertools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdist.transport.replicas import add, first, join, place

_GATHERS = 7_919_000  # the key of our group of tasks, apart from those that TensorFlow counts up
_SIZES = 1 << 20  # keys kept for the sizes of one gather
_SPARSE = "sparse"
_number = itertools.count(1)


def sum_tasks(strategy: tf.distribute.Strategy, values: list) -> list:
    """Return the sum over all replicas; one collective carries all dense values of a type."""
    sums: dict[int, Any] = {}
    for kind in dict.fromkeys(_kind(strategy, v) for v in values):
        places = [i for i, v in enumerate(values) if _kind(strategy, v) == kind]
        if kind == _SPARSE:
            sums |= {i: _sum_sparse(strategy, values[i]) for i in places}
        else:
            sums |= zip(places, _sum_dense(strategy, [values[i] for i in places]), strict=True)
    return [sums[i] for i in range(len(values))]


def _sum_dense(strategy: tf.distribute.Strategy, values: list) -> list:
    with tf.device(strategy.extended.worker_devices[0]):
        # TensorFlow packs values into one collective only when each says where it is.
        placed = [_placed(v) for v in values]
    pairs = [(v, v) for v in placed]
    reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)
    return [first(strategy, v) for v in reduced]


def _kind(strategy: tf.distribute.Strategy, value: Any) -> str:
    mine = first(strategy, value)
    return _SPARSE if isinstance(mine, tf.IndexedSlices) else mine.dtype.name


def rows(tasks: int) -> tuple[Callable, Callable]:
    """Return what sends a row to each task, and what sends one to all, for `narrow`."""
    keys = {
        "group_size": tasks,
        "group_key": _GATHERS,
        "ordering_token": [],
    }

    def key() -> int:
        return (next(_number) * _SIZES) % (2**31 - 1)

    def exchange(values: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.CollectiveAllToAllV2(input=values, instance_key=key(), **keys)

    def gather(value: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.CollectiveGatherV2(input=value, instance_key=key(), **keys)

    return exchange, gather


def join_tasks(strategy: tf.distribute.Strategy, *values: Any) -> list:
    """Return the rows of all replicas of all tasks, in the order of the replicas, on every task.

    Tasks may hold different numbers of rows, and other numbers at each step: every size has a
    collective of its own, because TensorFlow's remembers the shape it saw first.

    Args:
        strategy: A strategy whose replicas are spread over tasks.
        values: What `strategy.run` returned, all with the same number of rows.
    """
    number, tasks = place(strategy)
    with tf.device(strategy.extended.worker_devices[0]):
        mine = [tf.identity(join(strategy, v)) for v in values]
        counts = tf.one_hot(number, tasks) * tf.cast(tf.shape(mine[0])[0], tf.float32)
        counts = tf.cast(_sum_once(strategy, counts), tf.int32)
        return [_gather(each, counts, number, tasks) for each in mine]


def _gather(mine: tf.Tensor, counts: tf.Tensor, number: int, tasks: int) -> tf.Tensor:
    most = tf.reduce_max(counts)
    missing = tf.concat([[most - counts[number]], tf.shape(mine)[1:]], 0)
    rows = tf.raw_ops.CollectiveGatherV2(
        input=tf.concat([mine, tf.zeros(missing, mine.dtype)], 0),
        group_size=tasks,
        group_key=_GATHERS,
        instance_key=(next(_number) * _SIZES + most) % (2**31 - 1),
        ordering_token=[],
    )
    kept = tf.boolean_mask(rows, tf.reshape(tf.sequence_mask(counts, most), [-1]))
    return tf.ensure_shape(kept, [None, *mine.shape[1:]])


def _sum_once(strategy: tf.distribute.Strategy, value: tf.Tensor) -> tf.Tensor:
    """Return the sum over the tasks of a value that each task holds once."""
    share = value / len(strategy.extended.worker_devices)
    return sum_tasks(strategy, [strategy.run(lambda: tf.identity(share))])[0]


def _sum_sparse(strategy: tf.distribute.Strategy, value: Any) -> tf.IndexedSlices:
    """Bring the rows together, a row that comes twice too: optimizers see what one device sees."""
    mine = add(strategy, value)
    values, indices = join_tasks(strategy, mine.values, mine.indices)
    return tf.IndexedSlices(values, indices, mine.dense_shape)


def _placed(value: Any) -> Any:
    return value if isinstance(value, tf.distribute.DistributedValues) else tf.identity(value)
