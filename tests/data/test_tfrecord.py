import json

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

from tests.data import pictures
from tfdist.data import Reading, load
from tfdist.errors import UsageError

ALL = Reading(validation_fraction=0)
IMAGE = {"encoding": "image"}
LABEL = {"dtype": "int64"}


def feature(value):
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    values = np.ravel(value)
    if values.dtype.kind == "f":
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write(path, *examples):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for example in examples:
            features = {name: feature(value) for name, value in example.items()}
            proto = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(proto.SerializeToString())


def describe(folder, **features):
    described = {"x": "x", "y": "y", "features": features}
    (folder / "features.json").write_text(json.dumps(described))


def read(dataset):
    return list(dataset.as_numpy_iterator())


@pytest.mark.parametrize(
    ("described", "stored", "expected"),
    [
        ({"shape": [2, 2]}, np.arange(4.0), np.arange(4.0).reshape(2, 2)),
        ({"dtype": "int32", "shape": [3]}, np.arange(3), np.arange(3)),
        (
            {"encoding": "bytes", "dtype": "uint8", "shape": [2, 2, 1]},
            bytes([0, 51, 102, 255]),
            np.array([0, 0.2, 0.4, 1]).reshape(2, 2, 1),
        ),
        (
            {"encoding": "bytes", "dtype": "float64", "shape": [2]},
            np.array([0.5, 2.0]).tobytes(),
            np.array([0.5, 2.0]),
        ),
        (
            {"encoding": "tensor", "shape": [2]},
            tf.io.serialize_tensor(tf.constant([3.0, 4.0])).numpy(),
            np.array([3.0, 4.0]),
        ),
        (
            {"encoding": "image", "shape": [4, 5, 3]},
            pictures.png(pictures.pixels(0)),
            pictures.pixels(0) / 255,
        ),
        (IMAGE, pictures.png(np.full((9, 9, 3), 51, np.uint8)), np.full((6, 6, 3), 0.2)),
    ],
    ids=["values", "whole numbers", "bytes", "fractions", "tensor", "image", "any image"],
)
def test_each_encoding(tmp_path, described, stored, expected):
    write(tmp_path / "a", {"x": stored, "y": 4}, {"x": stored, "y": 5})
    describe(tmp_path, x=described, y=LABEL)
    reading = Reading(image_size=(6, 6), validation_fraction=0)
    source = load(f"tfrecord:{tmp_path}/a", reading=reading)
    (x, y), (_, last) = read(source.train)
    np.testing.assert_allclose(x, expected, rtol=1e-6)
    assert (int(y), int(last), y.dtype) == (4, 5, np.int64)
    assert source.input_shape == x.shape == expected.shape


def test_several_features_are_a_dict(tmp_path):
    write(tmp_path / "a", {"a": 1.5, "b": [1, 2], "y": 0})
    features = {"a": {}, "b": {"dtype": "int64", "shape": [2]}, "y": LABEL}
    described = {"x": ["a", "b"], "y": "y", "num_classes": 3, "features": features}
    (tmp_path / "features.json").write_text(json.dumps(described))
    source = load(f"tfrecord:{tmp_path}/a", reading=ALL)
    ((x, _),) = read(source.train)
    assert (float(x["a"]), x["b"].tolist()) == (1.5, [1, 2])
    assert (source.num_classes, source.input_shape) == (3, {"a": (), "b": (2,)})


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    describe(tmp_path, x={}, y=LABEL)
    for number in (2, 0, 1):
        write(tmp_path / f"t-{number}", *({"x": 0.0, "y": 300 * number + n} for n in range(300)))
    write(tmp_path / "v-0", {"x": 0.0, "y": -1})
    source = load(f"tfrecord:{tmp_path}/t-*,{tmp_path}/v-*")
    assert [int(y) for _, y in read(source.train)] == list(range(900))
    assert [int(y) for _, y in read(source.validation)] == [-1]
    assert (source.train_examples, source.validation_examples) == (900, 1)


def test_a_part_is_held_out_without_a_second_pattern(tmp_path):
    describe(tmp_path, x={}, y=LABEL)
    write(tmp_path / "a", *({"x": 0.0, "y": n} for n in range(10)))
    source = load(f"tfrecord:{tmp_path}/a")
    parts = [{int(y) for _, y in read(part)} for part in (source.train, source.validation)]
    assert ([len(part) for part in parts], parts[0] | parts[1]) == ([8, 2], set(range(10)))


@pytest.mark.parametrize("described", [{}, IMAGE])
def test_bad_records_are_left_out_and_named(tmp_path, described):
    good = 1.0 if described == {} else pictures.png(pictures.pixels(0))
    bad = b"text"
    describe(tmp_path, x=described, y=LABEL)
    write(tmp_path / "a", *({"x": bad if n == 3 else good, "y": n} for n in range(6)))
    reading = Reading(image_size=(4, 5), validation_fraction=0, max_bad_examples=1)
    source = load(f"tfrecord:{tmp_path}/a", reading=reading)
    assert [int(y) for _, y in read(source.train)] == [0, 1, 2, 4, 5]
    assert list(source.bad.reasons) == [f"record 3 of {tmp_path}/a"]
    source = load(f"tfrecord:{tmp_path}/a", reading=ALL)
    message = rf"record 3 of {tmp_path}/a \(.*\), and --max_bad_examples is 0: repair"
    with pytest.raises(UsageError, match=message), source.bad.told():
        read(source.train)


class TfdistStored(tfds.core.GeneratorBasedBuilder):
    """Images of which the size is not declared."""

    VERSION = tfds.core.Version("1.0.0")
    supervised: tuple | None = ("image", "label")

    def _info(self):
        label = tfds.features.ClassLabel(num_classes=4)
        features = {"image": tfds.features.Image(), "label": label, "id": np.int64}
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(features),
            supervised_keys=self.supervised,
            disable_shuffling=True,
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for index in range(4):
            yield index, {"image": pictures.pixels(index), "label": index, "id": index}


class TfdistStoredUnsupervised(TfdistStored):
    """The same, and nothing says what is x and what is y."""

    supervised = None


def test_what_tensorflow_datasets_has_written(tmp_path):
    builder = TfdistStored(data_dir=tmp_path)
    builder.download_and_prepare()
    reading = Reading(image_size=(4, 5), validation_fraction=0)
    source = load(f"tfrecord:{builder.data_dir}/*.tfrecord*", reading=reading)
    x, y = zip(*read(source.train), strict=True)
    np.testing.assert_allclose(x, np.array([pictures.pixels(n) for n in range(4)]) / 255, rtol=1e-6)
    assert ([int(label) for label in y], source.num_classes) == ([0, 1, 2, 3], 4)


def test_what_tensorflow_datasets_has_written_without_a_target(tmp_path):
    builder = TfdistStoredUnsupervised(data_dir=tmp_path)
    builder.download_and_prepare()
    with pytest.raises(UsageError, match=r"dataset_info\.json does not say which features are x"):
        load(f"tfrecord:{builder.data_dir}/*.tfrecord*")


@pytest.mark.parametrize(
    ("described", "message"),
    [
        (None, r"features\.json cannot be read \(No such file.*\), but must say what is in the"),
        ("{", r"features\.json is no JSON \("),
        ("[]", r"features\.json is list, but an object is expected"),
        ('{"x": "x", "y": "y"}', r"features\.json has no 'features': add it"),
        ('{"x": "x", "features": {"x": {}}}', r"features\.json has no 'y': add it"),
        ('{"x": "x", "Y": "y"}', "has the unknown key 'Y'; did you mean 'y'"),
        ('{"x": "xs", "y": "y", "features": {"x": {}}}', "no feature 'xs'; did you mean 'x'"),
        ({"encodign": "image"}, "has the unknown key 'encodign'; did you mean 'encoding'"),
        ({"encoding": "jpeg"}, "has the encoding 'jpeg': give values, image, bytes, tensor"),
        ({"dtype": "float23"}, "has the dtype 'float23': give one such as float32 or int64"),
        ({"shape": 3}, r"has the shape 3: give a list of lengths, as \[28, 28, 1\]"),
        ({"encoding": "image", "shape": [4, 5]}, r"is an image of shape \[4, 5\]: give \[height"),
    ],
)
def test_a_wrong_description(tmp_path, described, message):
    write(tmp_path / "a", {"x": 1.0, "y": 1})
    if isinstance(described, dict):
        describe(tmp_path, x=described, y=LABEL)
    elif described is not None:
        (tmp_path / "features.json").write_text(described)
    with pytest.raises(UsageError, match=message):
        load(f"tfrecord:{tmp_path}/a")


def test_patterns_without_files(tmp_path):
    with pytest.raises(UsageError, match=r"no file on this machine matches '.*/\*': correct"):
        load(f"tfrecord:{tmp_path}/*")
    with pytest.raises(UsageError, match="has 3 patterns: give one for training and at most one"):
        load("tfrecord:a,b,c")
