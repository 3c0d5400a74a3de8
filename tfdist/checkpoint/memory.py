"""What do callbacks remember of a run, and how does it come back?

Keras' own callbacks keep it in attributes that are listed here. A callback of the user's own gives
and takes it by `get_state()` and `set_state(state)`: numbers, texts, arrays, lists and dicts. Of
CSVLogger it is the file, which Keras begins anew with each `fit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np

_STATE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("EarlyStopping", ("best", "best_epoch", "best_weights", "stopped_epoch", "wait")),
    ("ReduceLROnPlateau", ("best", "cooldown_counter", "wait")),
    (
        "ModelCheckpoint",
        ("best", "_batches_seen_since_last_saving", "_current_epoch", "_last_batch_seen"),
    ),
    (
        "BackupAndRestore",
        ("_batches_seen_since_last_saving", "_current_epoch", "_last_batch_seen"),
    ),
    (
        "OrbaxCheckpoint",
        ("best", "_batches_seen_since_last_saving", "_last_batch_seen", "_total_batches_seen"),
    ),
    ("History", ("epoch", "history")),
    ("SwapEMAWeights", ("_ema_weights_in_model",)),
    (
        "TensorBoard",
        ("_global_train_batch", "_global_test_batch", "_previous_epoch_iterations"),
    ),
)
_TEXT, _COLUMNS = "text", "columns"
_ARRAY = "__array__"


def recall(callbacks: Sequence[keras.callbacks.Callback]) -> tuple[dict, list[np.ndarray]]:
    """Return what callbacks remember, as JSON values and the arrays that these name by number."""
    arrays: list[np.ndarray] = []
    states = {name: _encoded(_get(each), arrays) for name, each in _named(callbacks)}
    return {name: state for name, state in states.items() if state is not None}, arrays


def remind(
    callbacks: Sequence[keras.callbacks.Callback], states: dict, arrays: Sequence[np.ndarray]
) -> None:
    """Give callbacks back what they remembered; a callback that was not there begins anew."""
    for name, callback in _named(callbacks):
        if name in states:
            _set(callback, _decoded(states[name], arrays))


def _named(callbacks: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Name each callback by its class and its number among those: tasks have not all the same."""
    seen: dict[str, int] = {}
    for each in callbacks:
        kind = type(each).__name__
        seen[kind] = seen.get(kind, -1) + 1
        yield f"{kind} {seen[kind]}", each


def _attributes(callback: Any) -> tuple[str, ...]:
    for name, attributes in _STATE:
        if isinstance(callback, getattr(keras.callbacks, name, ())):  # each Keras has its own
            return attributes
    return ()


def _get(callback: Any) -> Any:
    if hasattr(callback, "get_state"):
        return callback.get_state()
    if isinstance(callback, keras.callbacks.CSVLogger):
        return {_TEXT: _written(callback), _COLUMNS: callback.keys}
    return {n: getattr(callback, n) for n in _attributes(callback) if hasattr(callback, n)} or None


def _set(callback: Any, state: Any) -> None:
    if hasattr(callback, "set_state"):
        callback.set_state(state)
        return
    if isinstance(callback, keras.callbacks.CSVLogger):
        _write_again(callback, state)
        return
    for name in _attributes(callback):
        if name in state:
            setattr(callback, name, state[name])


def _written(logger: keras.callbacks.CSVLogger) -> str:
    """Return what is in the file so far."""
    with open(logger.filename, newline="") as file:
        return file.read()


def _write_again(logger: keras.callbacks.CSVLogger, state: Any) -> None:
    """Let the file have what it had, without rows that were written after the checkpoint."""
    logger.csv_file.close()
    logger.csv_file = open(logger.filename, "w", newline="")  # noqa: SIM115 Keras closes it
    logger.csv_file.write(state[_TEXT])
    logger.csv_file.flush()
    logger.keys, logger.writer = state[_COLUMNS], None
    logger.append_header = not state[_TEXT]


def _encoded(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, dict):
        return {str(name): _encoded(each, arrays) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encoded(each, arrays) for each in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    array = np.asarray(value)
    if array.ndim == 0 and array.dtype.kind in "biuf":
        return array.item()
    arrays.append(array)
    return {_ARRAY: len(arrays) - 1}


def _decoded(value: Any, arrays: Sequence[np.ndarray]) -> Any:
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {name: _decoded(each, arrays) for name, each in value.items()}
    return [_decoded(each, arrays) for each in value] if isinstance(value, list) else value
