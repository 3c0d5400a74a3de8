"""How many examples a second?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

_ROUNDS = 3
_SETTLING = 0.2  # Part of a round in which what was prepared during the others is used up.


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
    running = {name: iter(dataset) for name, dataset in datasets.items()}
    for iterator in running.values():
        _run(iterator, 2 * seconds, pass_examples)
    best = dict.fromkeys(running, 0.0)
    for _ in range(_ROUNDS):
        for name, iterator in running.items():
            _run(iterator, _SETTLING * seconds / _ROUNDS)
            best[name] = max(best[name], _run(iterator, seconds / _ROUNDS))
    return best


def _run(iterator: Iterator[Any], seconds: float, at_most: int | None = None) -> float:
    """Read for so long, or so many examples; the examples a second."""
    begin = time.perf_counter()
    examples = 0
    while (took := time.perf_counter() - begin) < seconds:
        if at_most is not None and examples >= at_most:
            break
        examples += _size(next(iterator))
    return examples / took if took else 0.0


def _size(batch: Any) -> int:
    import tensorflow as tf

    return int(tf.nest.flatten(batch)[0].shape[0])
