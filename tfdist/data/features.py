"""What is in a tf.train.Example? The description in features.json, beside the files.

    {"x": "image", "y": "label", "num_classes": 10,
     "features": {"image": {"encoding": "image", "shape": [32, 32, 3]},
                  "label": {"dtype": "int64"}}}

Each feature has a shape ([] by default), a dtype (float32 by default) and an encoding:
  "values"  a list of numbers (the default)
  "image"   the bytes of a JPEG, PNG, BMP or GIF, resized to shape, or to --image_size without one
  "bytes"   the bytes of an array, in the order of memory
  "tensor"  what tf.io.serialize_tensor gives
x may be a list of names; then the model gets a dict of them.

The features.json that TensorFlow Datasets writes, with its dataset_info.json, is understood too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tfdist import names
from tfdist.data.reading import Reading
from tfdist.errors import UsageError

_KEYS = ("x", "y", "features", "num_classes")
_FEATURE_KEYS = ("encoding", "shape", "dtype")
ENCODINGS = ("values", "image", "bytes", "tensor")


@dataclass(frozen=True)
class Features:
    """How a serialized record becomes an example.

    Attributes:
        parse: from one record, a scalar string, to (x, y).
        parse_all: the same for a vector of records, where it is faster than one by one.
        num_classes: None when y is no class.
        text: changes when what `parse` gives does.
    """

    parse: Callable[[Any], Any]
    parse_all: Callable[[Any], Any] | None
    num_classes: int | None
    text: str


@dataclass(frozen=True)
class Feature:
    """One feature of the description, checked."""

    name: str
    encoding: str
    shape: tuple[int, ...]
    dtype: str


def beside(path: str, reading: Reading) -> Features:
    """Return the features that features.json in the folder of `path` describes.

    Raises:
        UsageError: it is missing or wrong.
    """
    file = Path(path).parent / "features.json"
    try:
        described = json.loads(file.read_text())
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read ({error.strerror}), but must say what is in the records, such "
            'as {"x": "image", "y": "label", "features": {"image": {"encoding": "image"}, "label": '
            '{"dtype": "int64"}}}: write it'
        ) from error
    except ValueError as error:
        raise UsageError(f"{file} is no JSON ({error}): correct it") from error
    if isinstance(described, dict) and "pythonClassName" in described:
        from tfdist.data import tfds_features

        return tfds_features.of(file.parent, reading)
    from tfdist.data import parsing

    x, y = _checked(file, described)
    return parsing.features(x, y, described.get("num_classes"), reading)


def _checked(file: Path, described: Any) -> tuple[list[Feature] | Feature, Feature]:
    """The features that are x and y."""
    _refuse_other_keys(str(file), described, _KEYS)
    declared = described.get("features")
    for key in _KEYS[:3]:
        if not described.get(key):
            raise UsageError(f"{file} has no {key!r}: add it, beside {', '.join(_KEYS)}")
    x, y = described["x"], described["y"]
    if isinstance(x, list):
        return [_feature(file, declared, each) for each in x], _feature(file, declared, y)
    return _feature(file, declared, x), _feature(file, declared, y)


def _feature(file: Path, declared: Mapping[str, Any], name: Any) -> Feature:
    if name not in declared:
        raise UsageError(
            f"{file} has no feature {name!r}{names.suggestion(str(name), declared)}: describe it "
            "under 'features'"
        )
    where = f"the feature {name!r} of {file}"
    given = declared[name]
    _refuse_other_keys(where, given, _FEATURE_KEYS)
    encoding, dtype = given.get("encoding", "values"), given.get("dtype", "float32")
    shape = given.get("shape", [])
    if encoding not in ENCODINGS:
        raise UsageError(f"{where} has the encoding {encoding!r}: give {', '.join(ENCODINGS)}")
    _refuse_other_dtype(where, dtype)
    if not (isinstance(shape, list) and all(isinstance(n, int) and n > 0 for n in shape)):
        raise UsageError(f"{where} has the shape {shape}: give a list of lengths, as [28, 28, 1]")
    if encoding == "image" and shape and (len(shape) != 3 or shape[2] not in (1, 3)):
        raise UsageError(f"{where} is an image of shape {shape}: give [height, width, 1 or 3]")
    return Feature(name, encoding, tuple(shape), dtype)


def _refuse_other_dtype(where: str, dtype: Any) -> None:
    try:
        known = np.dtype(dtype).kind in "biuf"
    except TypeError:
        known = False
    if not known:
        raise UsageError(f"{where} has the dtype {dtype!r}: give one such as float32 or int64")


def _refuse_other_keys(where: str, given: Any, keys: tuple[str, ...]) -> None:
    if not isinstance(given, dict):
        raise UsageError(f"{where} is {type(given).__name__}, but an object is expected")
    for key in given:
        if key not in keys:
            raise UsageError(
                f"{where} has the unknown key {key!r}{names.suggestion(key, keys)}: use "
                f"{', '.join(keys)}"
            )
