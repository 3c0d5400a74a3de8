"""Small builders with every kind of feature; they register themselves by their class names."""

import numpy as np
import pytest
import tensorflow_datasets as tfds

from tfdist.data import Reading, load, splits
from tfdist.errors import UsageError

IMAGES = {
    size: np.random.default_rng(0).integers(0, 256, (11, *size, 3), dtype=np.uint8)
    for size in ((4, 5), (300, 200))
}


class TfdistSmall(tfds.core.GeneratorBasedBuilder):
    """What the builders below have in common."""

    VERSION = tfds.core.Version("1.0.0")
    supervised = ("x", "y")
    splits = ("train", "test")

    def _info(self):
        features = tfds.features.FeaturesDict(self.features())
        return tfds.core.DatasetInfo(
            builder=self, features=features, supervised_keys=self.supervised, disable_shuffling=True
        )

    def _split_generators(self, dl_manager):
        return {split: self._generate_examples() for split in self.splits}

    def _generate_examples(self):
        yield from enumerate(self.examples())


class TfdistSmallImages(TfdistSmall):
    """Images of one size."""

    size = (4, 5)
    shape: tuple = (4, 5, 3)

    def features(self):
        image = tfds.features.Image(shape=self.shape)
        return {"x": image, "y": tfds.features.ClassLabel(num_classes=7)}

    def examples(self):
        return [{"x": image, "y": index % 7} for index, image in enumerate(IMAGES[self.size])]


class TfdistLargeImages(TfdistSmallImages):
    """Images of which a block would take much memory."""

    size = (300, 200)
    shape = (300, 200, 3)


class TfdistAnyImages(TfdistSmallImages):
    """Images of a size that is not declared."""

    shape = (None, None, 3)
    splits = ("train", "validation", "test")


class TfdistNoTrain(TfdistSmallImages):
    """A test split only."""

    splits = ("test",)


class TfdistNumbers(TfdistSmall):
    """Numbers that are no images, with a target that is no class."""

    def features(self):
        return {"x": tfds.features.Tensor(shape=(2,), dtype=np.uint8), "y": np.float32}

    def examples(self):
        return [{"x": np.array([index, 255], np.uint8), "y": index / 2} for index in range(4)]


class TfdistUnsupervised(TfdistNumbers):
    """The same without supervised keys."""

    supervised = None


class TfdistText(TfdistSmall):
    """Text."""

    def features(self):
        return {"x": tfds.features.Text(), "y": tfds.features.ClassLabel(num_classes=2)}

    def examples(self):
        return [{"x": "a word", "y": 1}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("tfdist_small_images", (4, 5)),
        ("tfdist_large_images", (300, 200)),
        ("tfdist_any_images", (4, 5)),
    ],
)
@pytest.mark.parametrize("most_bytes", [splits._BY_NUMBER_BYTES, 0])
def test_images_are_scaled_in_their_order(folder, name, size, most_bytes, monkeypatch):
    monkeypatch.setattr(splits, "_BY_NUMBER_BYTES", most_bytes)
    source = load(name, folder, Reading(image_size=size))
    assert (source.train_reader is None) == (most_bytes == 0)
    x, y = zip(*source.train.as_numpy_iterator(), strict=True)
    assert {image.dtype for image in x} == {np.dtype(np.float32)}
    np.testing.assert_allclose(np.stack(x), IMAGES[size] / 255, rtol=1e-6)
    assert list(y) == [index % 7 for index in range(11)]
    assert (int(source.train.cardinality()), source.train_examples) == (11, 11)
    assert source.num_classes == 7


def test_validation_comes_before_test(folder):
    source = load("tfdist_any_images", folder, Reading(image_size=(4, 5)))
    assert source.input_shape == (4, 5, 3)
    assert source.validation_examples == 11


def test_other_numbers_pass_untouched(folder):
    source = load("tfdist_numbers", folder)
    assert [(x.tolist(), y) for x, y in source.train.as_numpy_iterator()] == [
        ([index, 255], index / 2) for index in range(4)
    ]
    assert (source.input_shape, source.num_classes) == ((2,), None)


def test_without_supervised_keys_all_features_pass(folder):
    source = load("tfdist_unsupervised", folder)
    assert [sorted(example) for example in source.train] == [["x", "y"]] * 4
    assert source.input_shape == {"x": (2,), "y": ()}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tfdist_text", "'tfdist_text' gives text, and a model is fed with numbers"),
        ("tfdist_no_train", "'tfdist_no_train' has the splits test, but 'train' is expected"),
    ],
)
def test_what_cannot_be_trained_on(folder, name, message):
    with pytest.raises(UsageError, match=message):
        load(name, folder)


def test_files_that_tf_data_cannot_read(tmp_path):
    TfdistNumbers(data_dir=tmp_path).download_and_prepare(file_format="array_record")
    with pytest.raises(UsageError, match=r"as array_record files, which tf\.data cannot read"):
        load("tfdist_numbers", str(tmp_path))
