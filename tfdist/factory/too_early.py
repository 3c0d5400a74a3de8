"""What made TensorFlow run before the strategy was there? Names it, so that it can be moved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from tfdist.errors import UsageError

_NAMED_AT_MOST = 3


def tensorflow_has_run() -> bool:
    """Whether an operation, a listing of logical devices or the like has set TensorFlow up."""
    import tensorflow as tf

    threads = tf.config.threading.get_inter_op_parallelism_threads()
    try:
        # TensorFlow has no question for this, and refuses this change once it is set up.
        tf.config.threading.set_inter_op_parallelism_threads(threads + 1)
    except RuntimeError:
        return True
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    return False


def too_early(consequence: str) -> UsageError:
    """The error to raise when TensorFlow ran already; `consequence` is a clause."""
    made = list(_made())[:_NAMED_AT_MOST]
    what = f": move {' and '.join(made)} behind it" if made else ""
    return UsageError(
        f"TensorFlow already ran in this process, so that {consequence}; tfdist.strategy() must "
        f"come before the first tensor, dataset, model, optimizer or list of logical devices{what}."
    )


def _made() -> Iterator[str]:
    """What the callers' variables hold that only an operation of TensorFlow can have made."""
    for frame in _frames_of_callers():
        place = Path(frame.f_code.co_filename).name
        for name, value in frame.f_locals.items():
            if not name.startswith("_") and _needed_an_operation(value):
                yield f"`{name}` ({type(value).__name__}, in {place})"


def _frames_of_callers() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if not frame.f_globals.get("__name__", "").startswith("tfdist."):
            yield frame
        frame = frame.f_back


def _needed_an_operation(value: object) -> bool:
    import keras
    import tensorflow as tf

    if isinstance(value, (keras.Layer, keras.Optimizer, keras.Metric)):
        return bool(value.variables)
    return isinstance(value, (tf.Tensor, tf.Variable, tf.data.Dataset, keras.Variable))
