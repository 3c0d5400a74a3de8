"""How many examples a second?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

_ROUNDS = 3
_SETTLING = 0.2  # Part of a round in which what was prepared during the others is used up.
_CALL_SECONDS = 0.02  # Long enough that a call costs nothing, short enough to end in time.


def rates(
    datasets: Mapping[str, Any], pass_examples: int | None, seconds: float
) -> dict[str, float]:
    """Return the examples a second that each endless dataset of batches gives, by its name.

    The best of three rounds, in which the datasets take turns, so that what else the machine does
    falls on all of them.

    Args:
        datasets: what is measured.
        pass_examples: examples in one pass, after which what is kept is there; None: not known.
        seconds: how long each is measured, apart from a first pass of at most twice that time.
    """
    measured = {name: Measured(reader(dataset)) for name, dataset in datasets.items()}
    for each in measured.values():
        each.rate(2 * seconds, pass_examples)
    best = dict.fromkeys(measured, 0.0)
    for _ in range(_ROUNDS):
        for name, each in measured.items():
            each.rate(_SETTLING * seconds / _ROUNDS)
            best[name] = max(best[name], each.rate(seconds / _ROUNDS))
    return best


class Measured:
    """A dataset that is being read.

    Args:
        read: reads so many batches, and returns the number of their examples.
    """

    def __init__(self, read: Callable[[int], int]) -> None:
        self._read = read
        self._at_once = 1

    def rate(self, seconds: float, at_most: int | None = None) -> float:
        """Read for so long, or so many examples; the examples a second."""
        begin = now = time.perf_counter()
        examples = 0
        while now - begin < seconds and (at_most is None or examples < at_most):
            examples += self._read(self._at_once)
            before, now = now, time.perf_counter()
            if now - before < _CALL_SECONDS / 2:
                self._at_once *= 2
        return examples / (now - begin)


def reader(dataset: Any) -> Callable[[int], int]:
    """Return the function that reads so many batches, as training does, without Python."""
    import tensorflow as tf

    iterator = iter(dataset)

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
    def read(batches: Any) -> Any:
        examples = tf.constant(0)
        for _ in tf.range(batches):
            examples += tf.shape(tf.nest.flatten(next(iterator))[0])[0]
        return examples

    concrete = read.get_concrete_function()
    return lambda batches: int(concrete(tf.constant(batches)))
