"""What makes the numbers differ that should not? Names it, with the factor, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from tfdist.verification.factors import Gradients, factors_of, is_one, near
from tfdist.verification.report import Cause, Comparison

_SUM = (
    "take a mean over the rows, or give a sum to tfdist.global_sum(), which counts it as that of "
    "the global batch"
)


def in_every_batch(gradients: Gradients, replicas: int, owner: str) -> list[Cause]:
    """Name what is wrong with the gradient of batches that the replicas share evenly.

    Args:
        gradients: Of each weight, on one device and under the strategy.
        replicas: Replicas in a step.
        owner: What takes the loss.
    """
    factors = factors_of(gradients)
    off = {name: f for name, f in factors.items() if not near(f, 1.0)}
    if not off:
        return []
    every = len(off) == len(factors)
    whose = "the gradient" if every else f"the gradient of {_listed(list(off))}"
    first = next(iter(off.values()))
    if not all(near(f, first) for f in off.values()):
        return [_no_multiple(whose, owner)]
    return [_multiple(whose, first, replicas, owner)]


def elsewhere(
    comparison: Comparison, gradients: Gradients, replicas: int, owner: str
) -> list[Cause]:
    """Name what is wrong when the gradient of evenly shared batches is right.

    Args:
        comparison: Of the training without what differs by design.
        gradients: Those of a batch that the replicas cannot share evenly.
        replicas: Replicas in a step.
        owner: What takes the loss.
    """
    if not is_one(gradients):
        return [_uneven(owner)]
    return list(_of_logs(comparison, replicas)) or [unknown()]


def _multiple(whose: str, factor: float, replicas: int, owner: str) -> Cause:
    what = f"{whose} is {factor:.2f} x that of one device"
    if near(factor, 1 / replicas):
        return Cause(
            False,
            f"{what}, 1 / the number of replicas: {owner} takes a sum over its own rows, which is "
            "taken for a mean",
            _SUM,
            factor,
        )
    if near(factor, replicas):
        return Cause(
            False,
            f"{what}, the number of replicas: {owner} adds up over the replicas by itself",
            "leave that to tfdist: give the optimizer the gradient of the mean over the step's "
            "own rows",
            factor,
        )
    return Cause(False, f"{what}, because of what {owner} divides by", _SUM, factor)


def _no_multiple(whose: str, owner: str) -> Cause:
    return Cause(
        False,
        f"{whose} is no multiple of that of one device: {owner} looks at other rows of its batch, "
        "or takes a mean over something else than rows, such as tokens",
        "a mean over tokens is tfdist.global_sum(sum, per=count); rows that need each other must "
        "be one example",
    )


def _uneven(owner: str) -> Cause:
    return Cause(
        False,
        f"the gradient differs only where the replicas have unequal shares of a batch: {owner} "
        "divides by a fixed number of rows",
        "divide by the number of rows received, keras.ops.shape(x)[0], or " + _SUM,
    )


def _of_logs(comparison: Comparison, replicas: int) -> Iterator[Cause]:
    wrong = [row for row in comparison.rows if not row.is_equal]
    if any(row.kind != "log" for row in wrong):
        return
    for row in wrong:
        if not row.one_device or row.strategy is None:
            continue
        factor = row.strategy / row.one_device
        what = f"the log {row.name!r} is {factor:.2f} x that of one device"
        known = {1 / replicas: "1 / the number of replicas", replicas: "the number of replicas"}
        name = next((text for f, text in known.items() if math.isclose(factor, f, rel_tol=0.1)), "")
        if name:
            about = "" if near(factor, 1 / replicas) or near(factor, replicas) else "about "
            what = f"{what}, {about}{name}: it is no mean over the step's own rows"
            yield Cause(False, what, _SUM, factor)


def unknown() -> Cause:
    """The cause when the gradient is right and no log explains it."""
    return Cause(
        False,
        "the gradient of a single step agrees with one device, so that the difference comes from "
        "what follows it, or from state that a layer keeps",
        "train with optimizer='sgd' to tell the two apart, and report it if it is of tfdist",
    )


def order_matters(rounding: Comparison, owner: str) -> Cause:
    """The cause when plain Keras on one device does not repeat its own numbers."""
    return Cause(
        False,
        f"on one device too the numbers change, by {rounding.largest:.1e}, with the order of the "
        f"rows in a batch: {owner} lets rows look at each other, or draws random numbers that are "
        "not of keras.random",
        "make one example of rows that need each other; draw from keras.random with a "
        "keras.random.SeedGenerator of the layer",
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:2])
    return shown if len(names) <= 2 else f"{shown} and {len(names) - 2} weights more"


def other_batches(tasks: Mapping[str, int]) -> list[Cause]:
    """The cause when tasks read other batches than the first; `tasks` says from which on."""
    return [
        Cause(
            False,
            f"{task} reads other batches than the first task, from batch {first + 1} on",
            "let every task read the same global batches in the same order, of which the replicas "
            "take their rows: seed each shuffle, and take no shard by hand",
        )
        for task, first in tasks.items()
    ]


def other_starts(tasks: Mapping[str, int]) -> list[Cause]:
    """The cause when tasks begin with other weights than the first."""
    return [
        Cause(
            False,
            f"{task} begins with other weights than the first task",
            "let build() make the same model in every task: draw weights from Keras' initializers, "
            "and read them from one file",
        )
        for task in tasks
    ]
