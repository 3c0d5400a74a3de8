"""What does a prepared dataset give? Examples (x, y), with images scaled to [0, 1]."""

from __future__ import annotations

from typing import Any

from tfdist.data.pixels import scaled
from tfdist.data.source import Source
from tfdist.errors import UsageError

_VALIDATION_SPLITS = ("validation", "test")  # The first that is there.


def source(builder: Any, name: str) -> Source:
    """Return the train split and, where there is one, the validation split of `builder`.

    Images of whole numbers become float32 in [0, 1]; all else is passed on as it is. A dataset
    without supervised keys gives its features as a dict, without y.

    Args:
        builder: a prepared `tfds.core.DatasetBuilder`.
        name: the name that the user gave.

    Raises:
        UsageError: there is no train split, or the examples hold text, or tf.data cannot read them.
    """
    splits = builder.info.splits
    if "train" not in splits:
        raise UsageError(
            f"{name!r} has the splits {', '.join(splits)}, but 'train' is expected: choose a split "
            "in a function of your own, --dataset=module:function"
        )
    validation = next((split for split in _VALIDATION_SPLITS if split in splits), None)
    return Source(
        name=name,
        train=_read(builder, name, "train"),
        validation=_read(builder, name, validation) if validation else None,
        train_examples=splits["train"].num_examples,
        validation_examples=splits[validation].num_examples if validation else None,
        num_classes=_num_classes(builder.info),
        licence=builder.info.redistribution_info.license,
        origin=builder.info.homepage,
    )


def _read(builder: Any, name: str, split: str) -> Any:
    supervised = builder.info.supervised_keys is not None
    try:
        dataset = builder.as_dataset(split=split, as_supervised=supervised)
    except NotImplementedError as error:
        raise UsageError(
            f"{name!r} is stored in {builder.data_dir} as {builder.info.file_format.value} files, "
            "which tf.data cannot read: prepare it in another folder, with --data_dir=FOLDER"
        ) from error
    _refuse_text(dataset, name)
    return scaled(dataset) if _has_image_x(builder.info) else dataset


def _refuse_text(dataset: Any, name: str) -> None:
    import tensorflow as tf

    if any(leaf.dtype == tf.string for leaf in tf.nest.flatten(dataset.element_spec)):
        raise UsageError(
            f"{name!r} gives text, and a model is fed with numbers: turn it into numbers in a "
            "function of your own, --dataset=module:function"
        )


def _feature(info: Any, position: int) -> Any:
    """The feature that is x (0) or y (1), None when it is not a single one."""
    keys = info.supervised_keys
    return info.features[keys[position]] if keys and isinstance(keys[position], str) else None


def _has_image_x(info: Any) -> bool:
    import tensorflow_datasets as tfds

    return isinstance(_feature(info, 0), tfds.features.Image)


def _num_classes(info: Any) -> int | None:
    import tensorflow_datasets as tfds

    label = _feature(info, 1)
    return label.num_classes if isinstance(label, tfds.features.ClassLabel) else None
