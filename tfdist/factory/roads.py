"""Which road is faster between these workers, TensorFlow's or MPI's? Measured at the start."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfdist.factory.mpi import World

if TYPE_CHECKING:
    import tensorflow as tf

_BYTES = 4_000_000  # as the gradients of a small model, in one message
_TIMES = 5


def measure(strategy: tf.distribute.Strategy, world: World) -> tuple[str, str]:
    """Return the faster road, "ring" or "mpi", the same in every task, and why."""
    ring = _slowest(world, _ms(_by_tensorflow(strategy)))
    by_mpi = _slowest(world, _ms(_by_mpi(world)))
    road = "mpi" if by_mpi <= ring else "ring"
    times = f"{_BYTES // 10**6} MB take {by_mpi:.1f} ms by mpi and {ring:.1f} ms by ring"
    return road, f"{road}, because {times}"


def _by_tensorflow(strategy: tf.distribute.Strategy) -> Callable[[], object]:
    import tensorflow as tf

    def replica() -> tf.Tensor:
        value = tf.ones([_BYTES // 4])
        return tf.distribute.get_replica_context().all_reduce("SUM", value)

    reduce = tf.function(lambda: strategy.run(replica), autograph=False)
    return lambda: strategy.experimental_local_results(reduce())[0].numpy()


def _by_mpi(world: World) -> Callable[[], object]:
    import numpy as np

    mine = np.ones(_BYTES // 4, np.float32)
    total = np.empty_like(mine)
    return lambda: world.comm.Allreduce(mine, total)


def _ms(once: Callable[[], object]) -> float:
    once()
    times = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        once()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e3


def _slowest(world: World, ms: float) -> float:
    return max(world.comm.allgather(ms))
