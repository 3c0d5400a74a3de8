"""The one seed of a job, and the random numbers that follow from it."""

from __future__ import annotations

from tfdist.cluster import Cluster
from tfdist.errors import UsageError

_COMMON = 0


def check(seed: int | None) -> None:
    """Refuse what NumPy and Keras do not take as a seed.

    Raises:
        UsageError: it is not a whole number from 0 to 2**32 - 1.
    """
    whole = isinstance(seed, int) and not isinstance(seed, bool)
    if seed is not None and not (whole and 0 <= seed < 2**32):
        raise UsageError(f"seed {seed!r} was given: use a whole number from 0 to 2**32 - 1.")


def agreed(seed: int | None, cluster: Cluster) -> int | None:
    """The seed given, or else 0 where several workers must draw the same weights and shuffles.

    Under parameter servers only the chief runs the script, and draws for all.
    """
    alone = cluster.num_workers == 1 or cluster.has_ps or cluster.is_evaluator
    return seed if seed is not None or alone else _COMMON


def sow(seed: int | None) -> None:
    """Seed Python, NumPy, TensorFlow and Keras; None leaves them alone."""
    if seed is None:
        return
    import keras

    keras.utils.set_random_seed(seed)
