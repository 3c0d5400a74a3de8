"""A trained model as files that serve on a plain CPU, with Keras and TensorFlow alone."""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

import keras
import tensorflow as tf

from tfdist.checkpoint.places import Place, Remote, copy_folder, place, remove_folder
from tfdist.checkpoint.storage import flush, remove
from tfdist.checkpoint.together import is_chief
from tfdist.checkpoint.variables import number
from tfdist.errors import FailedError, UsageError
from tfdist.training import internals

KERAS, SAVED_MODEL = "model.keras", "saved_model"


def export(model: keras.Model, directory: str | os.PathLike, name: str = "final") -> Place:
    """Write a model to directory/name as `model.keras` and `saved_model`, and return that folder.

    Every task of a job may call it: the chief alone writes, aside at first, and what was there
    before is replaced as a whole. Neither the optimizer nor anything of tfdist is in it.

    Args:
        model: Built; trained under any strategy.
        directory: Of exports; it is made when it is not there.
        name: Of this one.

    Raises:
        UsageError: Keras cannot make the model again from its configuration.
        FailedError: it could not be written; what was there before is whole.
    """
    folder = place(directory) / name
    if not is_chief():
        return folder
    alone = plain(model)
    try:
        with internals.outside_strategy(), tf.device("CPU:0"):
            _copy_state(model, alone)
            _write(alone, folder)
    except (OSError, tf.errors.OpError) as error:
        raise FailedError(f"the model could not be exported to {folder} ({error})") from error
    return folder


def _write(model: keras.Model, folder: Place) -> None:
    """Write a model aside, and put it in place of what is there."""
    if isinstance(folder, Remote):
        with tempfile.TemporaryDirectory() as here:
            _fill(model, Path(here))
            remove_folder(folder)
            copy_folder(Path(here), folder)
        return
    aside = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        remove_folder(aside)
        aside.mkdir(parents=True)
        _fill(model, aside)
        flush(aside, deep=True)
        remove(folder)
        aside.rename(folder)
        flush(folder.parent)
    finally:
        remove_folder(aside)


def _copy_state(model: keras.Model, alone: keras.Model) -> None:
    """Copy the weights, put together where they are in parts, and what layers have in files."""
    for variable, value in zip(alone.weights, model.weights, strict=True):
        variable.assign(number(value))
    layers = zip(model._flatten_layers(), alone._flatten_layers(), strict=True)
    for index, (layer, other) in enumerate(layers):
        if hasattr(layer, "load_assets"):  # a vocabulary
            with tempfile.TemporaryDirectory(suffix=str(index)) as here:
                layer.save_assets(here)
                other.load_assets(here)


def _fill(model: keras.Model, folder: Path) -> None:
    model.save(folder / KERAS)
    # Read again: some layers compute more from their weights as these are read.
    again = keras.models.load_model(folder / KERAS, _own_classes(model), safe_mode=False)
    _call(again, model.get_build_config() or {})
    again.export(folder / SAVED_MODEL, format="tf_saved_model", verbose=False)


def check(model: keras.Model, directory: str | os.PathLike) -> None:
    """Refuse what could not be exported, before training starts.

    Raises:
        UsageError: Keras cannot make the model again from its configuration, or the folder cannot
            be written.
    """
    plain(model)
    if is_chief():
        try:
            folder = place(directory)
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.write_text("?")
            probe.unlink()
        except OSError as error:
            raise UsageError(
                f"exports cannot be written to {directory} ({error.strerror}): give a folder that "
                "can"
            ) from error


def plain(model: keras.Model) -> keras.Model:
    """Return such a model with other weights that belongs to no strategy and is not compiled.

    Raises:
        UsageError: Keras cannot make the model again from its configuration.
    """
    drawn = random.getstate()  # from which Keras seeds initial weights: training goes on with it
    own = _own_classes(model)
    try:
        config = keras.saving.serialize_keras_object(model)
        config.pop("compile_config", None)
        with internals.outside_strategy(), tf.device("CPU:0"):
            made = keras.saving.deserialize_keras_object(
                config, custom_objects=own, safe_mode=False
            )
            _call(made, config.get("build_config") or {})
            same = [tuple(w.shape) for w in made.weights] == [tuple(w.shape) for w in model.weights]
    except Exception as error:  # the classes are the user's: each fails in its own way
        raise UsageError(_sentence(model, str(error).strip().partition("\n")[0])) from error
    finally:
        random.setstate(drawn)
    if not same:
        raise UsageError(_sentence(model, "what it makes has other weights"))
    return made


def _own_classes(model: keras.Model) -> dict[str, type]:
    return {type(layer).__name__: type(layer) for layer in model._flatten_layers()}


def _call(model: keras.Model, built: dict) -> None:
    """Call a model symbolically, for Keras exports none that was never called."""
    if getattr(model, "inputs", None) is None and "input_shape" in built:
        model(keras.tree.map_shape_structure(keras.KerasTensor, built["input_shape"]))


def _sentence(model: keras.Model, reason: str) -> str:
    return (
        f"{type(model).__name__} cannot be exported, because Keras cannot make it again from its "
        f"get_config() ({reason}): give its classes a get_config() that has what __init__ takes"
    )
