"""How do described records become examples (x, y)?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfdist.data.features import Feature, Features
from tfdist.data.images import decoded
from tfdist.data.reading import Reading


def features(
    x: list[Feature] | Feature, y: Feature, num_classes: int | None, reading: Reading
) -> Features:
    """Return how records become x (with a list of features: a dict of them) and y."""
    import tensorflow as tf

    used = [*x, y] if isinstance(x, list) else [x, y]
    stored = {each.name: _stored(each) for each in used}

    def example(values: dict[str, Any]) -> tuple[Any, Any]:
        parts = {each.name: _value(each, values[each.name], reading) for each in used}
        taken = (
            {each.name: parts[each.name] for each in x} if isinstance(x, list) else parts[x.name]
        )
        return taken, parts[y.name]

    def parse(record: Any) -> tuple[Any, Any]:
        return example(tf.io.parse_single_example(record, stored))

    def parse_all(records: Any) -> tuple[Any, Any]:
        return example(tf.io.parse_example(records, stored))

    return Features(
        parse=parse,
        parse_all=parse_all if _all_numbers(used) else None,
        num_classes=num_classes,
        text=f"{x} {y} {reading.image_size} {reading.channels}",
    )


def _all_numbers(used: Iterable[Feature]) -> bool:
    return all(each.encoding == "values" for each in used)


def _stored(feature: Feature) -> Any:
    """How tf.train.Example stores it: as bytes, int64 or float32."""
    import tensorflow as tf

    if feature.encoding != "values":
        return tf.io.FixedLenFeature([], tf.string)
    wanted = tf.as_dtype(feature.dtype)
    return tf.io.FixedLenFeature(feature.shape, tf.float32 if wanted.is_floating else tf.int64)


def _value(feature: Feature, stored: Any, reading: Reading) -> Any:
    import tensorflow as tf

    dtype, shape = tf.as_dtype(feature.dtype), feature.shape
    if feature.encoding == "values":
        return tf.cast(stored, dtype)
    if feature.encoding == "image":
        height, width, channels = shape or (*reading.image_size, reading.channels)
        return decoded(stored, (height, width), channels)
    if feature.encoding == "bytes":
        return tf.reshape(tf.io.decode_raw(stored, dtype), shape)
    return tf.ensure_shape(tf.io.parse_tensor(stored, dtype), shape)
