"""Plays cases under one strategy: `python -m tests.conformance.run --help`."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import pickle
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tests.conformance.case import Case
from tests.conformance.record import Record, record
from tests.conformance.strategies import STRATEGIES, split_cpu

_SEED = 1


def play(case: Case, strategy: tf.distribute.Strategy, distribute: Callable) -> Record:
    """Play a case under a strategy; raises what it raises."""
    begin = time.perf_counter()
    keras.backend.clear_session(free_memory=False)  # the names of layers begin anew
    keras.config.set_dtype_policy("float32")
    keras.utils.set_random_seed(_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = case.make(case, strategy, distribute)
        outcome = case.play(model, case)
    return dataclasses.replace(record(model, outcome), seconds=time.perf_counter() - begin)


def play_safely(case: Case, strategy: tf.distribute.Strategy, distribute: Callable) -> Record:
    """The same; what it raises is in the record."""
    begin = time.perf_counter()
    try:
        return play(case, strategy, distribute)
    except Exception as error:
        traceback.print_exc()
        return Record(error=_sentence(error), seconds=time.perf_counter() - begin)


def play_reference(case: Case, replicas: int) -> Record:
    """Play a case with plain Keras on one device."""
    other = case.reference(replicas) if case.reference else case
    return play(other, tf.distribute.get_strategy(), as_it_is)


def as_it_is(model: keras.Model) -> keras.Model:
    """Leave a model to Keras."""
    return model


def distributed(model: keras.Model) -> keras.Model:
    """Give a model to tfdist."""
    import tfdist

    return tfdist.distribute(model)


def write(folder: Path, name: str, result: Record) -> None:
    """Write a record so that a reader sees all of it or nothing."""
    part = folder / f".{name}"
    part.write_bytes(pickle.dumps(result))
    part.replace(folder / f"{name}.pickle")


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:600]}"


def main(arguments: list[str]) -> None:
    """Play the cases of --cases (all by default), one file each."""
    from tests.conformance.cases import BY_NAME

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strategy", required=True, choices=list(STRATEGIES))
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--cases", nargs="*", default=list(BY_NAME))
    parser.add_argument("--keras", action="store_true", help="Keras' own fit, for the table.")
    asked = parser.parse_args(arguments)
    played = STRATEGIES[asked.strategy]
    if played.is_local:
        split_cpu()
    strategy = played.make()
    folder = asked.out / _task()
    folder.mkdir(parents=True, exist_ok=True)
    for name in asked.cases:
        distribute = as_it_is if asked.keras else distributed
        write(folder, name, play_safely(BY_NAME[name], strategy, distribute))


def _task() -> str:
    import json

    task: Any = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {})
    return f"{task.get('type', 'alone')}-{task.get('index', 0)}"


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(sys.argv[1:])
