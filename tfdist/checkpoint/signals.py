"""Is this process asked to end? Seen at once, also while TensorFlow waits and Python cannot."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from typing import Any

from tfdist.errors import EXIT_AGAIN

_NUMBERS = (signal.SIGTERM, signal.SIGUSR1)  # Slurm sends the second before the first
_STOP = 0


class Watch:
    """Notes SIGTERM and SIGUSR1; the second one, or the end of the grace period, ends at once.

    Outside the main thread, where Python lets nobody ask for signals, it sees none.

    Args:
        grace_seconds: What the process may take from the first signal to its end; 0 ends it then.
    """

    def __init__(self, grace_seconds: float) -> None:
        self.asked: str | None = None
        self._grace_seconds = grace_seconds
        self._before: dict[int, Any] = {}

    def start(self) -> Watch:
        """Watch from now on."""
        if threading.current_thread() is not threading.main_thread():
            return self
        self.stop()  # a fit() that an error ended did not
        self.asked = None
        read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        # A handler of Python's runs only between two of its instructions; a byte comes always.
        self._before = {n: signal.signal(n, lambda *_: None) for n in _NUMBERS}
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=(read, self._write), daemon=True).start()
        return self

    def stop(self) -> None:
        """Watch no longer: signals do what they did before."""
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
            for number, handler in self._before.items():
                signal.signal(number, handler)
            self._before = {}
            os.write(self._write, bytes([_STOP]))

    def _watch(self, read: int, write: int) -> None:
        patience = None
        while True:
            if not select.select([read], [], [], patience)[0]:
                _end(f"not saved within the {self._grace_seconds:g} s after {self.asked}")
            for number in os.read(read, 64):
                if number == _STOP:
                    os.close(read)
                    os.close(write)
                    return
                if number in _NUMBERS:
                    if self.asked is not None:
                        _end(f"{signal.Signals(number).name} came after {self.asked}")
                    self.asked = signal.Signals(number).name
                    patience = self._grace_seconds
                    if not self._grace_seconds:
                        _end(f"{self.asked} came when there was nothing to save")


def _end(reason: str) -> None:
    sys.stderr.write(f"tfdist: {reason}: ended at once; start the job again.\n")
    sys.stderr.flush()
    os._exit(EXIT_AGAIN)
