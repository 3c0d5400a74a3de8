"""Which rows of a batch does a replica read?"""


def rows(n: int, replica: int, replicas: int) -> tuple[int, int]:
    """Return (start, stop): the rows of a batch of `n` that `replica` of `replicas` reads.

    The parts of all replicas cover each row exactly once, in order, and differ by one row at most;
    with fewer rows than replicas some parts are empty.

    Raises:
        ValueError: `n` is negative, or `replica` is not in 0 .. `replicas` - 1.
    """
    if n < 0 or not 0 <= replica < replicas:
        raise ValueError(f"no rows for replica {replica} of {replicas} in a batch of {n}")
    return n * replica // replicas, n * (replica + 1) // replicas
