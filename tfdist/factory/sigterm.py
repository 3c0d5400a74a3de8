"""A process of a cluster stays one that SIGTERM ends.

TensorFlow's coordination service catches SIGTERM, to note that the machine may be taken away, and
does nothing more with it: a process that waits in a collective would then only end by SIGKILL.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept() -> Iterator[None]:
    """Give SIGTERM back, at the end, to whom Python had given it before.

    Only the main thread may; in another one nothing changes.
    """
    yield
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)
