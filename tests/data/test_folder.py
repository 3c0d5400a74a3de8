import os

import numpy as np
import pytest

from tests.data import pictures
from tests.data.pictures import write, write_classes
from tfdist.data import Reading, load
from tfdist.errors import UsageError

SMALL = Reading(image_size=(4, 5))


def read(dataset) -> list:
    return list(dataset.as_numpy_iterator())


def test_classes_are_the_sorted_names_of_the_folders(tmp_path):
    shown = write_classes(tmp_path / "train", wolf=3, bear=2)
    write(tmp_path / "train" / ".cache" / "0.png", pictures.GIF)
    write(tmp_path / "train" / "bear" / "notes.txt", b"no image")
    source = load(f"folder:{tmp_path}", reading=SMALL)
    assert (source.class_names, source.num_classes) == (("bear", "wolf"), 2)
    assert (source.train_examples, source.validation) == (5, None)
    assert source.input_shape == (4, 5, 3)
    found = read(source.train)
    assert [int(y) for _, y in found] == [0, 0, 1, 1, 1]
    expected = [shown[name] for name in sorted(shown)]
    np.testing.assert_allclose([x for x, _ in found], np.array(expected) / 255, rtol=1e-6)
    assert {(x.dtype, y.dtype) for x, y in found} == {(np.dtype("float32"), np.dtype("int64"))}


@pytest.mark.parametrize("part", ["validation", "val", "test"])
def test_a_validation_folder_is_for_validation(tmp_path, part):
    write_classes(tmp_path / "train", a=2, b=2)
    write_classes(tmp_path / part, b=3)
    source = load(f"folder:{tmp_path}", reading=SMALL)
    assert [int(y) for _, y in read(source.validation)] == [1, 1, 1]
    assert (source.train_examples, source.validation_examples) == (4, 3)


def test_every_format_and_folders_in_folders(tmp_path):
    image = pictures.pixels(0)
    write(tmp_path / "a" / "1.png", pictures.png(image))
    write(tmp_path / "a" / "2.BMP", pictures.bmp(image))
    write(tmp_path / "a" / "3.gif", pictures.GIF)
    write(tmp_path / "a" / "b" / "4.jpeg", pictures.jpeg(np.full_like(image, 51)))
    source = load(f"folder:{tmp_path}", reading=Reading(image_size=(4, 5), validation_fraction=0))
    png, bmp, gif, jpeg = (x for x, _ in read(source.train))
    np.testing.assert_allclose(png, image / 255, rtol=1e-6)
    np.testing.assert_array_equal(bmp, png)
    np.testing.assert_array_equal(gif, np.ones((4, 5, 3)))
    np.testing.assert_allclose(jpeg, 0.2, rtol=1e-6)


def test_images_of_other_kinds_are_named_and_not_passed_over(tmp_path):
    write_classes(tmp_path, a=2)
    write(tmp_path / "a" / "scan.TIFF", b"II*\0")
    write(tmp_path / "a" / "notes.txt", b"no image")
    reading = Reading(image_size=(4, 5), validation_fraction=0, max_bad_examples=1)
    source = load(f"folder:{tmp_path}", reading=reading)
    assert len(read(source.train)) == 2
    assert [os.path.basename(name) for name in source.bad.reasons] == ["scan.TIFF"]


def test_what_is_held_out_is_always_the_same_and_never_trained_on(tmp_path):
    write_classes(tmp_path, a=10, b=15)
    first, again = (load(f"folder:{tmp_path}", reading=SMALL) for _ in range(2))
    parts = [[x.tobytes() for x, _ in read(part)] for part in (first.train, first.validation)]
    assert [len(part) for part in parts] == [20, 5]
    assert len({*parts[0], *parts[1]}) == 25
    assert [x.tobytes() for x, _ in read(again.validation)] == parts[1]


def test_grey_images(tmp_path):
    write_classes(tmp_path, a=2)
    reading = Reading(image_size=(4, 5), channels=1, validation_fraction=0)
    source = load(f"folder:{tmp_path}", reading=reading)
    assert source.input_shape == (4, 5, 1)
    luma = pictures.pixels(0) @ np.array([0.2989, 0.587, 0.114]) / 255
    np.testing.assert_allclose(read(source.train)[0][0][..., 0], luma, atol=1 / 255)


def damaged(folder):
    """Six images, and three files that are none."""
    shown = write_classes(folder, a=3, b=3)
    write(folder / "a" / "none.png", b"this is no image")
    write(folder / "b" / "empty.jpg", b"")
    whole = pictures.jpeg(pictures.pixels(0, 64, 64))
    write(folder / "b" / "half.jpg", whole[: len(whole) // 2])
    return shown


def test_bad_images_are_left_out_named_and_counted_once(tmp_path, caplog):
    shown = damaged(tmp_path)
    reading = Reading(image_size=(4, 5), validation_fraction=0, max_bad_examples=3)
    source = load(f"folder:{tmp_path}", reading=reading)
    for _ in range(2):
        assert len(read(source.train)) == len(shown)
    assert source.bad.reasons == {
        f"{tmp_path}/a/none.png": "Unknown image file format",
        f"{tmp_path}/b/empty.jpg": "Input is empty",
        f"{tmp_path}/b/half.jpg": source.bad.reasons[f"{tmp_path}/b/half.jpg"],
    }
    warnings = [each.getMessage() for each in caplog.records]
    assert len(warnings) == 3
    assert warnings[0].startswith(f"left out {tmp_path}/a/none.png (Unknown image file format): 1")


@pytest.mark.parametrize(
    ("most", "message"),
    [
        (0, r"a/none\.png \(Unknown image.*\), and --max_bad_examples is 0: repair or remove"),
        (2, r"3 examples cannot be read, the last one .*half\.jpg \(.*--max_bad_examples is 2"),
    ],
)
def test_too_many_bad_images_end_the_reading(tmp_path, most, message):
    damaged(tmp_path)
    reading = Reading(image_size=(4, 5), validation_fraction=0, max_bad_examples=most)
    source = load(f"folder:{tmp_path}", reading=reading)
    for _ in range(2):
        with pytest.raises(UsageError, match=message), source.bad.told():
            read(source.train)


def test_other_errors_pass_through(tmp_path):
    import tensorflow as tf

    write_classes(tmp_path, a=2)
    source = load(f"folder:{tmp_path}", reading=SMALL)
    with pytest.raises(tf.errors.InvalidArgumentError), source.bad.told():
        tf.reshape(tf.zeros(3), [2])


def test_a_block_may_hold_bad_images_only(tmp_path):
    for index in range(3):
        write(tmp_path / "a" / f"{index}.png", b"")
    reading = Reading(validation_fraction=0, max_bad_examples=3)
    assert read(load(f"folder:{tmp_path}", reading=reading).train) == []


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "is no folder: give one with images, as PATH/class/image.jpg"),
        (["here/1.png"], "has no folders, but one for each class is expected"),
        (["here/a/notes.txt"], r"the folders of .* hold no images \(\.bmp, \.gif, \.jpeg"),
        (
            ["here/train/a/1.png", "here/test/b/1.png"],
            "test/b is a class without images for training, which has a: add some, or remove it",
        ),
    ],
)
def test_what_is_no_folder_of_images(tmp_path, files, message):
    for name in files:
        write(tmp_path / name, b"")
    with pytest.raises(UsageError, match=message):
        load(f"folder:{tmp_path}/here")
