"""npz: and npy:, the same arrays in one file and in a folder of files."""

import numpy as np
import pytest

from tfdist.data import Reading, load
from tfdist.errors import UsageError

ALL = Reading(validation_fraction=0)
PIXELS = np.random.default_rng(0).integers(0, 256, (7, 3, 4), dtype=np.uint8)
LABELS = np.arange(7) % 3


@pytest.fixture(params=["npz", "npy"])
def stored(request, tmp_path):
    """A function that stores arrays and returns the name of the dataset."""

    def store(**arrays):
        if request.param == "npz":
            np.savez(tmp_path / "data.npz", **arrays)
            return f"npz:{tmp_path}/data.npz"
        for name, array in arrays.items():
            np.save(tmp_path / f"{name}.npy", array)
        return f"npy:{tmp_path}"

    return store


def read(dataset):
    return [np.stack(part) for part in zip(*dataset.as_numpy_iterator(), strict=True)]


def test_pixels_become_fractions_with_an_axis_of_channels(stored):
    name = stored(x_train=PIXELS, y_train=LABELS, x_test=PIXELS[:2], y_test=LABELS[:2])
    source = load(name)
    x, y = read(source.train)
    np.testing.assert_allclose(x, PIXELS[..., np.newaxis] / 255, rtol=1e-6)
    assert (x.dtype, y.dtype, y.tolist()) == (np.float32, np.int64, LABELS.tolist())
    assert (source.train_examples, source.validation_examples) == (7, 2)
    assert (source.input_shape, source.num_classes) == ((3, 4, 1), 3)
    np.testing.assert_array_equal(read(source.validation)[0], x[:2])


def test_fractions_stay_and_targets_need_not_be_classes(stored):
    x = np.linspace(-1, 1, 10).reshape(5, 2)
    source = load(stored(x=x, y=x[:, 0]), reading=ALL)
    found = read(source.train)
    np.testing.assert_allclose(found[0], x, rtol=1e-6)
    assert [part.dtype for part in found] == [np.float32, np.float32]
    assert (source.num_classes, source.validation) == (None, None)


def test_whole_numbers_that_are_no_pixels_stay(stored):
    words = np.arange(12, dtype=np.int32).reshape(4, 3)
    x, y = read(load(stored(x=words, y=words), reading=ALL).train)
    assert (x.dtype, x.tolist(), y.dtype) == (np.int32, words.tolist(), np.int64)


def test_a_column_of_classes_is_a_list_of_classes(stored):
    source = load(stored(x=PIXELS, y=LABELS[:, np.newaxis].astype(np.uint8)), reading=ALL)
    assert (read(source.train)[1].shape, source.num_classes) == ((7,), 3)


def test_a_part_is_held_out_without_validation_arrays(stored):
    source = load(stored(x=np.arange(50.0), y=np.arange(50)), reading=Reading())
    train, validation = (set(read(part)[1].tolist()) for part in (source.train, source.validation))
    assert (len(train), len(validation)) == (40, 10)
    assert train | validation == set(range(50))


def test_examples_keep_their_order_also_beyond_one_block(stored):
    source = load(stored(x=np.arange(1000.0), y=np.arange(1000)), reading=ALL)
    assert read(source.train)[1].tolist() == list(range(1000))
    assert int(source.train.cardinality()) == 1000


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": LABELS}, r"has the arrays a, but x_train and y_train \(and x_test and y_test\)"),
        ({"x_train": PIXELS}, "has the array x_train, but no y_train: add it"),
        ({"x": PIXELS, "y": LABELS[:5]}, "x of '.*' has 7 examples and y has 5: give as many"),
        ({"x": PIXELS, "y": np.array(["a"] * 7)}, "y of '.*' has the type <U1 and the shape"),
        ({"x": np.array(3.0), "y": LABELS}, r"x of '.*' has the type float64 and the shape \(\)"),
        ({"x": np.array([None]), "y": LABELS}, "cannot be read as an .np. file .*without Python"),
    ],
)
def test_arrays_that_do_not_fit(stored, arrays, message):
    with pytest.raises(UsageError, match=message):
        load(stored(**arrays))


@pytest.mark.parametrize("content", [None, b"no archive", b"PK\x03\x04 cut off"])
def test_what_is_no_npz_file(tmp_path, content):
    if content is not None:
        (tmp_path / "data.npz").write_bytes(content)
    with pytest.raises(UsageError, match=r"data\.npz cannot be read as an \.npz file \("):
        load(f"npz:{tmp_path}/data.npz")


def test_what_is_no_npy_folder(tmp_path):
    with pytest.raises(UsageError, match=r"is no folder: give one with x_train\.npy and y_train"):
        load(f"npy:{tmp_path}/nothing")


def test_x_of_a_folder_stays_in_its_file(tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", PIXELS)
    np.save(tmp_path / "y.npy", LABELS)
    modes = []

    def watched(path, mmap_mode, original=np.load):
        modes.append(mmap_mode)
        return original(path, mmap_mode=mmap_mode)

    monkeypatch.setattr(np, "load", watched)
    load(f"npy:{tmp_path}")
    assert modes == ["r", None]
