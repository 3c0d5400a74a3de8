"""Random kills of a run of two workers: nothing is lost, nothing is seen twice.

`python -m tests.checkpoint.chaos --kills=20` does the same for longer, also with other strategies.
"""

from tests.checkpoint.chaos import MOMENTS, differences, run

EPOCHS = 30


def test_killed_at_random_it_ends_as_if_it_had_not_been(tmp_path):
    for name in ("calm", "disturbed"):
        (tmp_path / name).mkdir()
    undisturbed = run("two_workers", tmp_path / "calm", EPOCHS)
    outcome = run("two_workers", tmp_path / "disturbed", EPOCHS, kills=len(MOMENTS), seed=3)
    assert len(outcome.kills) == len(MOMENTS), outcome.said
    assert (undisturbed.code, outcome.code) == (0, 0), outcome.said
    assert differences(undisturbed.arrays, outcome.arrays) == []
    assert (outcome.times_seen == EPOCHS).all()
