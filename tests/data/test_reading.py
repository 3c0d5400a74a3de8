import pytest

from tfdist.data.reading import Reading, parse_size
from tfdist.errors import UsageError


def test_sizes():
    assert (parse_size("224"), parse_size("224x160")) == ((224, 224), (224, 160))


@pytest.mark.parametrize("text", ["", "224x", "224x160x3", "-1", "a"])
def test_other_sizes(text):
    with pytest.raises(UsageError, match=f"--image_size is '{text}': give pixels, as 224"):
        parse_size(text)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("image_size", (0, 5), "--image_size is"),
        ("channels", 4, "--channels is 4: give 3 for colour or 1 for grey"),
        ("validation_fraction", 1.0, "--validation_fraction is 1.0: give a number from 0 to below"),
        ("max_bad_examples", -1, "--max_bad_examples is -1: give 0 or more"),
    ],
)
def test_values_out_of_range(field, value, message):
    with pytest.raises(UsageError, match=message):
        Reading(**{field: value})
