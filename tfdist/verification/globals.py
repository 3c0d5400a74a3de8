"""What Keras keeps for the whole process, changed for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import keras

from tfdist.training.internals import global_state

_COUNTS = "object_name_uids"  # where Keras counts the names it has given: dense, dense_1, ...


@contextlib.contextmanager
def same_names() -> Iterator[None]:
    """Let Keras name layers in the block as if they were the first of the process."""
    before = global_state.get_global_attribute(_COUNTS)
    global_state.set_global_attribute(_COUNTS, None)
    try:
        yield
    finally:
        global_state.set_global_attribute(_COUNTS, before)


@contextlib.contextmanager
def double_precision(wanted: bool) -> Iterator[None]:
    """Let layers that are made in the block compute in float64, unless they were told otherwise."""
    policy, float_type = keras.config.dtype_policy(), keras.config.floatx()
    if wanted:
        keras.config.set_floatx("float64")
        keras.config.set_dtype_policy("float64")
    try:
        yield
    finally:
        keras.config.set_floatx(float_type)
        keras.config.set_dtype_policy(policy)
