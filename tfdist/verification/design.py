"""Why may numbers differ though nothing is wrong? Says so, and how to train without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from tfdist.verification.outcome import Outcome
from tfdist.verification.report import Cause
from tfdist.verification.trial import Mode

_NAMED = 2


def by_design(
    outcome: Outcome, strategy: tf.distribute.Strategy
) -> tuple[Mode, list[str], list[Cause]]:
    """Return how to train without what differs by design, its names, and the causes."""
    found = list(_found(outcome, strategy))
    changes: dict[str, Any] = {change: True for change, _, _ in found}
    return Mode(**changes), [name for _, name, _ in found], [cause for _, _, cause in found]


def _found(outcome: Outcome, strategy: tf.distribute.Strategy) -> Iterator[tuple[str, str, Cause]]:
    several = strategy.num_replicas_in_sync > 1
    if several and outcome.normalized:
        yield "synchronized", "batch statistics of a replica", _normalized(outcome.normalized)
    if several and outcome.drew:
        yield "without_chance", "random numbers", _drew(outcome.drew)
    if workers_of(strategy) > 1:
        yield "one_by_one", "steps at the same time", _asynchronous(workers_of(strategy))


def workers_of(strategy: tf.distribute.Strategy) -> int:
    """Return the number of workers that do not wait for each other."""
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return strategy._num_workers
    return 1


def _normalized(names: Sequence[str]) -> Cause:
    return Cause(
        True,
        f"{_listed(names)}: a replica normalizes by the statistics of its own rows",
        "keras.layers.BatchNormalization(synchronized=True)",
    )


def _drew(names: Sequence[str]) -> Cause:
    return Cause(
        True,
        f"{_listed(names)}: each replica draws random numbers of its own",
        "none needed; to compare runs number by number, train with the rate 0",
    )


def _asynchronous(workers: int) -> Cause:
    return Cause(
        True,
        f"{workers} workers update the weights without waiting for each other",
        "none needed; one worker gives the numbers of one device",
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} layers more"
