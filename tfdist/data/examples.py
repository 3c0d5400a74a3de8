"""What does a prepared dataset give? Examples (x, y), with images scaled to [0, 1]."""

from __future__ import annotations

from typing import Any

from tfdist.data import parts
from tfdist.data.bad import BadExamples
from tfdist.data.reading import Reading
from tfdist.data.source import Source
from tfdist.data.splits import Splits
from tfdist.errors import UsageError

_VALIDATION_SPLITS = ("validation", "test")  # The first that is there.


def source(builder: Any, name: str, reading: Reading) -> Source:
    """Return the train split and, where there is one, the validation split of `builder`.

    Images of whole numbers become float32 in [0, 1], and those of no declared size are resized; all
    else is passed on as it is. A dataset without supervised keys gives its features as a dict,
    without y.

    Args:
        builder: a prepared `tfds.core.DatasetBuilder`.
        name: the name that the user gave.
        reading: how images are resized, and how many records may be left out.

    Raises:
        UsageError: there is no train split, or the examples hold text, or tf.data cannot read them.
    """
    there = builder.info.splits
    if "train" not in there:
        raise UsageError(
            f"{name!r} has the splits {', '.join(there)}, but 'train' is expected: choose a split "
            "in a function of your own, --dataset=module:function"
        )
    _refuse_unreadable(builder, name)
    bad = BadExamples(reading.max_bad_examples)
    splits = Splits(builder, reading, bad)
    validation = next((split for split in _VALIDATION_SPLITS if split in there), None)
    facts = {
        "num_classes": splits.num_classes,
        "licence": builder.info.redistribution_info.license,
        "origin": builder.info.homepage,
    }
    if all(splits.is_by_number(split) for split in ("train", validation) if split):
        held_out = splits.reader(validation) if validation else None
        return parts.source(name, splits.reader("train"), held_out, reading, bad=bad, **facts)
    return Source(
        name=name,
        train=splits.stream("train"),
        validation=splits.stream(validation) if validation else None,
        train_examples=there["train"].num_examples,
        validation_examples=there[validation].num_examples if validation else None,
        **facts,
    )


def _refuse_unreadable(builder: Any, name: str) -> None:
    try:
        builder.as_dataset(split="train")
    except NotImplementedError as error:
        raise UsageError(
            f"{name!r} is stored in {builder.data_dir} as {builder.info.file_format.value} files, "
            "which tf.data cannot read: prepare it in another folder, with --data_dir=FOLDER"
        ) from error
