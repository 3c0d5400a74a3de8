"""Where Slurm puts the ranks. The expected ones were read off SLURM_GTIDS of Slurm 22.05."""

import pytest

from tfdist.cluster.environments.placement import place

#   tasks on each node, distribution, plane size, ranks on each node
TABLE = [
    ([3, 1, 1], "", "", ["0,1,2", "3", "4"]),
    ([3, 1, 1], "block", "", ["0,1,2", "3", "4"]),
    ([3, 1, 1], "block:cyclic,pack", "", ["0,1,2", "3", "4"]),
    ([3, 1, 1], "cyclic", "", ["0,3,4", "1", "2"]),
    ([2, 2], "cyclic:block", "", ["0,2", "1,3"]),
    ([4, 2, 1], "plane", "2", ["0,1,5,6", "2,3", "4"]),
    ([7, 7], "cyclic", "", ["0,2,4,6,8,10,12", "1,3,5,7,9,11,13"]),
    ([1, 1, 1], "", "", ["0", "1", "2"]),
    ([1, 2], "block", "", ["0", "1,2"]),
    ([], "", "", []),
]


@pytest.mark.parametrize(("counts", "distribution", "plane_size", "ranks"), TABLE)
def test_place(counts, distribution, plane_size, ranks):
    places = place(counts, distribution, plane_size)
    found = [
        ",".join(str(rank) for rank, place in enumerate(places) if place == node)
        for node in range(len(counts))
    ]
    assert found == ranks


@pytest.mark.parametrize("distribution", ["arbitrary", "plane", "nonsense"])
def test_what_does_not_tell_the_places(distribution):
    with pytest.raises(ValueError, match=f"the distribution '{distribution}' does not tell"):
        place([2, 1], distribution)
