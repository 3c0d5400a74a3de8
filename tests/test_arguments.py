"""A wrong word of a small command is one sentence, and exit code 2."""

import pytest

from tfdist import demo, plot, timeline
from tfdist.cluster import __main__ as cluster


@pytest.mark.parametrize(
    ("door", "words", "said"),
    [
        (plot, [], "the following arguments are required: RUN; python -m tfdist.plot --help shows"),
        (timeline, ["logs", "--oat=x"], "unrecognized arguments: --oat=x; python -m tfdist.time"),
        (cluster, [], "the following arguments are required: --print; python -m tfdist.cluster"),
        (demo, ["--all"], "unrecognized arguments: --all; python -m tfdist.demo --help shows"),
        (demo, ["miror"], "'miror' is no strategy of the demo: give some of one_device, mirrored"),
    ],
)
def test_a_wrong_word(capsys, door, words, said):
    assert door.main(words) == 2
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert told.count("\n") == 1
