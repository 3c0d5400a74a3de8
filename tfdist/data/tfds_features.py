"""What do the files say that TensorFlow Datasets writes beside its records?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfdist.data.features import Features
from tfdist.data.images import resized
from tfdist.data.reading import Reading
from tfdist.errors import UsageError


def of(folder: Path, reading: Reading) -> Features:
    """Return the features that features.json and dataset_info.json in `folder` describe.

    Images whose size is not declared are resized.

    Raises:
        UsageError: they cannot be read, or do not say what is x and what is y.
    """
    import tensorflow as tf
    import tensorflow_datasets as tfds

    x_key, y_key = _supervised_keys(folder)
    described = tfds.features.FeaturesDict.from_config(str(folder))
    for key in (x_key, y_key):
        if key not in described:
            raise UsageError(f"{folder}/features.json has no feature {key!r}: correct it")
    label = described[y_key]

    def parse(record: Any) -> tuple[Any, Any]:
        example = described.deserialize_example(record)
        x = example[x_key]
        if isinstance(described[x_key], tfds.features.Image) and not x.shape.is_fully_defined():
            x = resized(x, reading.image_size)
        return x, example[y_key]

    return Features(
        parse=parse,
        parse_all=None,
        num_classes=label.num_classes if isinstance(label, tfds.features.ClassLabel) else None,
        text=f"{json.dumps(described.to_json())} {reading.image_size} {tf.__version__}",
    )


def _supervised_keys(folder: Path) -> tuple[str, str]:
    file = folder / "dataset_info.json"
    try:
        items = json.loads(file.read_text())["supervisedKeys"]["tuple"]["items"]
        x, y = (each["featureKey"] for each in items)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{file} does not say which features are x and y: write a features.json of your own, "
            'such as {"x": "image", "y": "label", "features": {"image": {"encoding": "image"}, '
            '"label": {"dtype": "int64"}}}'
        ) from error
    return x, y
