"""What one device holds, by hand."""

from tfdist.memory.step import line


def test_a_line_goes_through_both_values():
    found = line((4, 100.0), (8, 180.0))
    assert (found.at(4), found.at(8), found.at(0)) == (100, 180, 20)
