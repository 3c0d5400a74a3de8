"""The names of layers: the same ones in each model that is made of one function."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tfdist.training.internals import global_state

_COUNTS = "object_name_uids"  # where Keras counts the names it has given: dense, dense_1, ...


@contextlib.contextmanager
def same_names() -> Iterator[None]:
    """Let Keras forget the names it gives in the block."""
    counts = global_state.get_global_attribute(_COUNTS)
    before = None if counts is None else counts.copy()
    try:
        yield
    finally:
        global_state.set_global_attribute(_COUNTS, before)
