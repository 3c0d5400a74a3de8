"""How many examples a second?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

_ROUNDS = 3
_SETTLING = 0.2  # Part of a round in which what was prepared during the others is used up.
_BATCHES_AT_ONCE = 8


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
    running = {name: _reading(dataset) for name, dataset in datasets.items()}
    for read in running.values():
        _rate(read, 2 * seconds, pass_examples)
    best = dict.fromkeys(running, 0.0)
    for _ in range(_ROUNDS):
        for name, read in running.items():
            _rate(read, _SETTLING * seconds / _ROUNDS)
            best[name] = max(best[name], _rate(read, seconds / _ROUNDS))
    return best


def _rate(read: Callable[[], int], seconds: float, at_most: int | None = None) -> float:
    """Read for so long, or so many examples; the examples a second."""
    begin = time.perf_counter()
    examples, took = 0, 0.0
    while took < seconds and (at_most is None or examples < at_most):
        examples += read()
        took = time.perf_counter() - begin
    return examples / took


def _reading(dataset: Any) -> Callable[[], int]:
    """A function that reads some batches, as training does, and returns their examples."""
    import tensorflow as tf

    iterator = iter(dataset)

    @tf.function
    def read() -> Any:
        examples = tf.constant(0)
        for _ in tf.range(_BATCHES_AT_ONCE):
            examples += tf.shape(tf.nest.flatten(next(iterator))[0])[0]
        return examples

    return lambda: int(read())
