import hashlib
from importlib.resources import files

import numpy as np
import pytest

from tfdist.data import load

FILE = files("tfdist.data.digits") / "digits.npz"


@pytest.fixture(scope="module")
def original():
    with FILE.open("rb") as file, np.load(file) as arrays:
        return arrays["images"], arrays["labels"]


def rows_of(dataset):
    """The examples as bytes, sorted: their order is that of the prepared files."""
    return sorted(x.tobytes() + y.tobytes() for x, y in dataset.as_numpy_iterator())


def test_the_file_is_that_of_the_repository(original):
    images, labels = original
    # Sums over the images and labels of sklearn.datasets.load_digits, as bytes.
    assert hashlib.sha256(images.tobytes()).hexdigest().startswith("8f26b2bd9d135c256808f68f14fd")
    assert hashlib.sha256(labels.tobytes()).hexdigest().startswith("8ba4f891220f5e4c9c819638d160")
    assert len(FILE.read_bytes()) < 150_000


def test_every_fifth_image_is_for_validation_and_the_others_for_training(original, digits_dir):
    images = (original[0] / 16).astype(np.float32)[..., np.newaxis]
    labels = original[1].astype(np.int64)
    source = load("digits", digits_dir)
    is_test = np.arange(len(labels)) % 5 == 0
    for dataset, chosen in ((source.validation, is_test), (source.train, ~is_test)):
        expected = zip(images[chosen], labels[chosen], strict=True)
        assert rows_of(dataset) == sorted(x.tobytes() + y.tobytes() for x, y in expected)


def test_what_the_source_tells(digits_dir):
    source = load("digits", digits_dir)
    assert (source.train_examples, source.validation_examples) == (1437, 360)
    assert (source.input_shape, source.num_classes) == ((8, 8, 1), 10)
    assert source.licence.startswith("CC BY 4.0")
    assert "10.24432/C50P49" in source.origin
    x, y = next(iter(source.train))
    assert (x.dtype, y.dtype) == ("float32", "int64")


def test_every_task_reads_the_same_order(digits_dir):
    first, second = (load("digits", digits_dir).train.as_numpy_iterator() for _ in range(2))
    assert all((a[0] == b[0]).all() for a, b in zip(first, second, strict=True))


def test_the_note_beside_the_file_names_source_and_licence():
    note = (files("tfdist.data.digits") / "README.md").read_text()
    assert "Alpaydin" in note
    assert "CC BY 4.0" in note
