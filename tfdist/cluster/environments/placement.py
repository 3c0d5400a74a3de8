"""On which node Slurm puts each rank, given how many each node has.

Distributions: https://slurm.schedmd.com/srun.html#OPT_distribution
"""


def place(counts: list[int], distribution: str, plane_size: str = "") -> list[int]:
    """The node's position for each rank.

    Args:
        counts: The number of tasks on each node.
        distribution: As in SLURM_DISTRIBUTION, such as "cyclic:block"; block when it is empty,
            which for one task on each node is the same as cyclic.
        plane_size: As in SLURM_DIST_PLANESIZE, needed for "plane".

    Raises:
        ValueError: when the distribution does not determine the places.
    """
    over_nodes = distribution.lower().split(",")[0].split(":")[0]
    if over_nodes in ("", "*", "block"):
        return _deal(counts, max(counts, default=1))
    if over_nodes == "cyclic":
        return _deal(counts, 1)
    if over_nodes.startswith("plane") and plane_size.isascii() and plane_size.isdigit():
        return _deal(counts, int(plane_size))
    raise ValueError(f"the distribution {distribution!r} does not tell which rank is where")


def _deal(counts: list[int], plane_size: int) -> list[int]:
    """Give each node in turn up to `plane_size` ranks, as long as it has room for them."""
    left = list(counts)
    places: list[int] = []
    while any(left):
        for node, room in enumerate(left):
            dealt = min(room, max(plane_size, 1))
            places += [node] * dealt
            left[node] -= dealt
    return places
