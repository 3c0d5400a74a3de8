"""How many times that of one device is a gradient?"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

Gradients = Mapping[str, tuple[np.ndarray, np.ndarray]]  # of a weight: one device, strategy
_SAME = 1e-2  # how near to a factor counts as it
_ROUNDING = 1e-4  # a gradient this small beside the largest one may be rounding


def factors_of(gradients: Gradients) -> dict[str, float]:
    """Return by what the gradient of each weight is multiplied; NaN where it is no multiple."""
    largest = max((np.abs(one).max(initial=0) for one, _ in gradients.values()), default=0)
    factors = {}
    for path, (one, other) in gradients.items():
        square = float(np.vdot(one, one))
        if np.abs(one).max(initial=0) < _ROUNDING * largest or not square:
            continue
        factor = float(np.vdot(one, other)) / square
        left = np.linalg.norm(other - factor * one) / np.linalg.norm(one)
        factors[path] = factor if left < _SAME * max(1.0, abs(factor)) else math.nan
    return factors


def is_one(gradients: Gradients) -> bool:
    """Return whether no gradient is multiplied."""
    return all(near(f, 1.0) for f in factors_of(gradients).values())


def near(value: float, target: float) -> bool:
    """Return whether a factor is the one expected."""
    return math.isclose(value, target, rel_tol=_SAME)
