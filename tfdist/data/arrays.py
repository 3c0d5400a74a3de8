"""What do arrays give whose names say what they are: x_train, y_train, x_test, y_test, or x, y?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfdist.data import parts
from tfdist.data.parts import hold_out
from tfdist.data.reader import Reader
from tfdist.data.reading import Reading
from tfdist.data.source import Source
from tfdist.errors import UsageError

_TRAIN = ("x_train", "y_train")
_WHOLE = ("x", "y")
_VALIDATION = (("x_validation", "y_validation"), ("x_val", "y_val"), ("x_test", "y_test"))


def source(
    name: str,
    known: Iterable[str],
    array: Callable[[str], np.ndarray],
    reading: Reading,
    identity: Callable[[], str],
) -> Source:
    """Return the source of named arrays.

    x_validation, x_val or x_test is for validation, with its y; else a part of all examples. x of
    uint8 or uint16 holds pixels; without an axis of channels it gets one.

    Args:
        name: the name that the user gave.
        known: the names of the arrays.
        array: gives the array of a name, which may lie in a file.
        reading: how much is held out.
        identity: see `Reader`.

    Raises:
        UsageError: the names are others, or x and y do not fit together.
    """
    known = set(known)
    keys = next((pair for pair in (_TRAIN, _WHOLE) if pair[0] in known), None)
    if keys is None:
        raise UsageError(
            f"{name!r} has the arrays {', '.join(sorted(known)) or 'none'}, but x_train and "
            "y_train (and x_test and y_test), or x and y, are expected: rename them"
        )
    train_arrays = _pair(name, keys, known, array)
    train: Reader = _reader(*train_arrays, f"{keys[0]}", identity)
    held = next((pair for pair in _VALIDATION if pair[0] in known), None)
    validation: Reader | None
    if held is None:
        train, validation = hold_out(train, reading.validation_fraction)
    else:
        validation = _reader(*_pair(name, held, known, array), held[0], identity)
    return parts.source(name, train, validation, reading, num_classes=_num_classes(train_arrays[1]))


def _pair(
    name: str, keys: tuple[str, str], known: set[str], array: Callable[[str], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    if keys[1] not in known:
        raise UsageError(f"{name!r} has the array {keys[0]}, but no {keys[1]}: add it")
    x, y = array(keys[0]), array(keys[1])
    for key, each in zip(keys, (x, y), strict=True):
        if each.dtype.kind not in "biuf" or each.ndim == 0:
            raise UsageError(
                f"{key} of {name!r} has the type {each.dtype} and the shape {each.shape}, but "
                "numbers with a first axis of examples are expected: convert it"
            )
    if len(x) != len(y):
        raise UsageError(
            f"{keys[0]} of {name!r} has {len(x)} examples and {keys[1]} has {len(y)}: give as many"
        )
    return x, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 and y.dtype.kind in "iu" else y


def _num_classes(y: np.ndarray) -> int | None:
    if y.ndim != 1 or y.dtype.kind not in "iu" or len(y) == 0 or y.min() < 0:
        return None
    return int(y.max()) + 1


def _reader(x: np.ndarray, y: np.ndarray, key: str, identity: Callable[[], str]) -> Reader:
    is_image = x.dtype in (np.uint8, np.uint16)
    if is_image and x.ndim == 3:
        x = x[..., np.newaxis]
    y = np.ascontiguousarray(y)
    in_file = isinstance(x, np.memmap)
    return Reader(
        examples=len(x),
        read=_from_file(x, y) if in_file else _from_memory(x, y),
        needs_no_copy=True,
        plain=None if in_file else lambda: _plain(x, y),
        identity=lambda: f"{key} {identity()}",
    )


def _plain(x: np.ndarray, y: np.ndarray) -> tuple[Any, Callable[..., Any]]:
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((x, y)), lambda *example: example


def _from_memory(*arrays: np.ndarray) -> Callable[[Any], tuple[Any, ...]]:
    import tensorflow as tf

    with tf.device("CPU:0"):
        tensors = [tf.convert_to_tensor(each) for each in arrays]
    return lambda numbers: tuple(tf.gather(each, numbers) for each in tensors)


def _from_file(*arrays: np.ndarray) -> Callable[[Any], tuple[Any, ...]]:
    import tensorflow as tf

    def take(numbers: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(each[numbers]) for each in arrays]

    def read(numbers: Any) -> tuple[Any, ...]:
        batch = tf.numpy_function(take, [numbers], [each.dtype for each in arrays], stateful=False)
        for part, whole in zip(batch, arrays, strict=True):
            part.set_shape([None, *whole.shape[1:]])
        return tuple(batch)

    return read
