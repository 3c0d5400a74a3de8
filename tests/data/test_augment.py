import numpy as np
import pytest

from tests.data.numbered import by_number
from tfdist.data import Reading, parts
from tfdist.data.augment import Augment
from tfdist.data.batches import batches
from tfdist.data.order import Order
from tfdist.data.reader import Reader
from tfdist.errors import UsageError

PLACE = (np.int64(0), np.int64(0))


def coordinates(examples: int, height: int = 8, width: int = 6) -> np.ndarray:
    """Images in which each pixel says where it is: y and x, both from 0 to 1."""
    y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1 : width * 1j]
    return np.repeat(np.stack([y, x], -1)[None], examples, 0).astype(np.float32)


def changed(augment: Augment, images: np.ndarray, place=PLACE) -> np.ndarray:
    import tensorflow as tf

    x, y = augment((tf.constant(images), "y"), place)
    assert y == "y"
    return x.numpy()


def test_a_half_of_the_images_is_mirrored():
    images = coordinates(1000)
    found = changed(Augment(flip=True), images)
    mirrored = np.array([each[0, 0, 1] == 1 for each in found])
    assert 430 < mirrored.sum() < 570
    np.testing.assert_array_equal(found[mirrored], images[mirrored][:, :, ::-1])
    np.testing.assert_array_equal(found[~mirrored], images[~mirrored])


@pytest.mark.parametrize("size", [None, (5, 7), (16, 12)])
def test_a_window_keeps_its_part_and_its_aspect_ratio(size):
    found = changed(Augment(crop=0.5, size=size), coordinates(500))
    assert found.shape == (500, *(size or (8, 6)), 2)
    sides = found[:, -1, -1] - found[:, 0, 0]
    np.testing.assert_allclose(sides[:, 0], sides[:, 1], atol=1e-5)
    assert 0.5 - 1e-5 <= sides.min() < 0.55
    assert 0.95 < sides.max() <= 1
    corners = np.concatenate([found[:, 0, 0], found[:, -1, -1]])
    assert corners.min() < 0.02
    assert corners.max() > 0.98
    evenly = np.linspace(found[:, 0, 0], found[:, -1, 0], found.shape[1], axis=1)
    np.testing.assert_allclose(found[:, :, 0], evenly, atol=1e-5)


@pytest.mark.parametrize("crop", [0.01, 0.9, 0.999999])
def test_no_window_is_black_at_its_edge(crop):
    found = changed(Augment(crop=crop), np.ones((2000, 31, 17, 1), np.float32))
    np.testing.assert_allclose(found, 1, rtol=1e-6)


def test_images_are_resized():
    image = np.full((2, 8, 6, 3), 0.25, np.float32)
    assert changed(Augment(size=(4, 4)), image).shape == (2, 4, 4, 3)
    np.testing.assert_allclose(changed(Augment(size=(9, 2)), image), 0.25)
    np.testing.assert_array_equal(changed(Augment(size=(8, 6)), image), image)


def test_nothing_that_is_not_asked_for():
    images = coordinates(5)
    np.testing.assert_array_equal(changed(Augment(), images), images)
    validation = Augment(flip=True, crop=0.5, size=(8, 6)).for_validation()
    np.testing.assert_array_equal(changed(validation, images), images)


def test_choices_follow_from_seed_and_place():
    def of(seed, epoch, step):
        augment = Augment(flip=True, crop=0.5, seed=seed)
        return changed(augment, coordinates(20), (np.int64(epoch), np.int64(step)))

    np.testing.assert_array_equal(of(0, 0, 0), of(0, 0, 0))
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 2, 1), (0, 1, 2)]
    assert len({of(*place).tobytes() for place in places}) == len(places)


def images(examples: int):
    """A source of images that say which one each is."""
    import tensorflow as tf

    def read(numbers):
        x = tf.constant(coordinates(1)) + 10 * tf.cast(numbers, tf.float32)[:, None, None, None]
        return x, numbers

    return parts.source("images", Reader(examples, read), None, Reading(cache="none"))


def test_a_run_that_is_resumed_sees_the_images_that_would_have_come():
    augment = Augment(flip=True, crop=0.5, seed=3)
    whole = batches(images(20), Order(global_batch_size=6, goes_on=True), augment)
    rest = Order(global_batch_size=6, goes_on=True, start_epoch=1, start_step=2)
    expected = list(whole.take(9).as_numpy_iterator())[6:]
    found = list(batches(images(20), rest, augment).take(3).as_numpy_iterator())
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


def test_the_shape_that_the_model_takes():
    assert Augment(flip=True).input_shape((8, 6, 3)) == (8, 6, 3)
    assert Augment(size=(4, 5)).input_shape((8, 6, 3)) == (4, 5, 3)
    assert Augment().input_shape((7,)) == (7,)


@pytest.mark.parametrize("shape", [(), (28, 28), (None, None, 3), {"a": (8, 6, 3)}])
def test_other_examples_than_images(shape):
    message = "but an example has the shape .*: give images of one size"
    with pytest.raises(UsageError, match=message):
        Augment(flip=True).input_shape(shape)


def test_other_examples_than_images_are_told_before_they_are_read():
    with pytest.raises(UsageError, match=r"but an example has the shape \(\)"):
        batches(by_number(5), Order(global_batch_size=2), Augment(crop=0.5))


@pytest.mark.parametrize("crop", [0, -0.5, 1.5])
def test_crops_out_of_range(crop):
    with pytest.raises(UsageError, match=f"--crop is {crop}: give the least part of each side"):
        Augment(crop=crop)


def test_sizes_out_of_range():
    with pytest.raises(UsageError, match=r"resized to \(0, 4\): give 1 pixel or more"):
        Augment(size=(0, 4))
