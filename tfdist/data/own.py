"""What did the user's own function return?"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from tfdist import names
from tfdist.data.per_worker import PerWorker
from tfdist.data.source import Source
from tfdist.errors import UsageError

_OURS = {"name", "train_reader", "validation_reader", "bad"}
_KEYS = tuple(field.name for field in fields(Source) if field.name not in _OURS)


def load(name: str, data_dir: str | None) -> Source:
    """Call the function named module:function, with data_dir= if it takes it.

    It returns (train, validation), two tf.data datasets of single examples; or a dict with "train"
    and any other field of Source; or a Source; or `tfdist.per_worker(...)`, alone or in the place
    of a dataset.

    Raises:
        UsageError: the function cannot be called, or returned something else.
    """
    answer = names.call(name, data_dir=data_dir)
    source = answer if isinstance(answer, Source) else Source(name, **_as_dict(name, answer))
    _refuse_other_than_dataset(name, "train", source.train)
    if source.validation is not None:
        _refuse_other_than_dataset(name, "validation", source.validation)
    return source


def declared(name: str, data_dir: str | None) -> PerWorker | None:
    """Return the training data of the function as data of each worker's own, None when it is not.

    Raises:
        UsageError: the function cannot be called, or returned something else.
    """
    answer = names.call(name, data_dir=data_dir)
    train = answer.train if isinstance(answer, Source) else _as_dict(name, answer)["train"]
    return train if isinstance(train, PerWorker) else None


def _as_dict(name: str, answer: Any) -> dict[str, Any]:
    if isinstance(answer, PerWorker):
        return {"train": answer}
    if isinstance(answer, (tuple, list)) and len(answer) == 2:
        return {"train": answer[0], "validation": answer[1]}
    if not isinstance(answer, dict) or "train" not in answer:
        raise UsageError(
            f"{name!r} returned {_described(answer)}: return (train, validation), a dict with "
            "'train', or a tfdist.data.Source"
        )
    unknown = [key for key in answer if key not in _KEYS]
    if unknown:
        raise UsageError(
            f"{name!r} returned a dict with the unknown key {unknown[0]!r}: "
            f"use {', '.join(_KEYS)}{names.suggestion(str(unknown[0]), _KEYS)}"
        )
    return answer


def _described(answer: Any) -> str:
    if isinstance(answer, dict):
        return f"a dict with the keys {sorted(map(str, answer))}"
    if isinstance(answer, (tuple, list)):
        return f"a {type(answer).__name__} of {len(answer)}"
    return f"a value of type {type(answer).__name__}"


def _refuse_other_than_dataset(name: str, part: str, value: Any) -> None:
    import tensorflow as tf

    if not isinstance(value, tf.data.Dataset | PerWorker):
        raise UsageError(
            f"{name!r} returned {type(value).__name__} as its {part} data, but a tf.data.Dataset "
            "is expected: arrays become one with tf.data.Dataset.from_tensor_slices((x, y))"
        )
