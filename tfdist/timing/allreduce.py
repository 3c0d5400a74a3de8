"""How long a sum over the tasks takes inside a step, by size."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np
import tensorflow as tf

from tfdist.factory.mpi import world_of
from tfdist.transport import sum_replicas

_TIMES = 5


def allreduce(strategy: tf.distribute.Strategy, given: dict[str, Any]) -> dict[str, float]:
    """Return the milliseconds of a sum of `size` bytes in values of `bucket` bytes.

    The bandwidths are those of NCCL's tests: `algorithm`, bytes by seconds, and `bus`, times
    2 (n - 1) / n for n tasks. `raw` is MPI_Allreduce alone, 0 where MPI is not the transport.
    """
    size, tasks = given["size"], given["tasks"]
    lengths = _lengths(size // 4, given["bucket"] // 4)
    ms = _inside(strategy, lengths, _repeats(size))
    gigabytes = size / ms / 1e6
    return {
        "ms": ms,
        "algorithm_gb_per_s": gigabytes,
        "bus_gb_per_s": gigabytes * 2 * (tasks - 1) / tasks,
        "raw_mpi_ms": _raw(strategy, size // 4, _repeats(size)),
    }


def _lengths(whole: int, most: int) -> list[int]:
    full, rest = divmod(whole, most)
    return [most] * full + ([rest] if rest else [])


def _repeats(size: int) -> int:
    return max(3, min(200, 50_000_000 // size))


def _inside(strategy: tf.distribute.Strategy, lengths: list[int], repeats: int) -> float:
    """Time sums one after another in one call into TensorFlow."""

    def body(i: tf.Tensor, values: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
        sums = sum_replicas(strategy, strategy.run(lambda: [v * 0.5 for v in values]))
        return i + 1, [tf.ensure_shape(s, v.shape) for s, v in zip(sums, values, strict=True)]

    @tf.function(autograph=False)
    def several(times: tf.Tensor) -> tf.Tensor:
        values = [tf.ones([n]) for n in lengths]
        last = tf.while_loop(lambda i, _: i < times, body, (0, values), parallel_iterations=1)
        return last[1][0][0]

    several(tf.constant(2)).numpy()
    return _median(lambda: several(tf.constant(repeats)).numpy(), repeats)


def _raw(strategy: tf.distribute.Strategy, length: int, repeats: int) -> float:
    world = world_of(strategy)
    if world is None:
        return 0.0
    mine, total = np.ones(length, np.float32), np.empty(length, np.float32)

    def several() -> None:
        for _ in range(repeats):
            world.comm.Allreduce(mine, total)

    several()
    return _median(several, repeats)


def _median(run: Any, repeats: int) -> float:
    times = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        run()
        times.append((time.perf_counter() - begin) / repeats * 1e3)
    return statistics.median(times)
