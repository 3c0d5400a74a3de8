"""Load TensorFlow without the lines that it writes to standard error as it loads.

TensorFlow 2.21 writes them whatever TF_CPP_MIN_LOG_LEVEL says, because it reads that later, and on
a machine without a GPU one of them looks like a failure.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator

from tfdist.cluster import processor
from tfdist.cluster.variables import variable


def load_tensorflow() -> None:
    """Import TensorFlow and let it look for devices; show what it wrote only when that fails.

    Who sets TF_CPP_MIN_LOG_LEVEL sees everything.
    """
    asked_for = variable("TF_CPP_MIN_LOG_LEVEL") is not None
    processor.set_defaults()
    with contextlib.nullcontext() if asked_for else _held_back():
        import tensorflow as tf

        tf.config.list_physical_devices()


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Keep standard error back, that of libraries in C++ too, and show it when the block fails."""
    sys.stderr.flush()
    shown = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            kept.seek(0)
            os.write(shown, kept.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(shown, 2)
            os.close(shown)
