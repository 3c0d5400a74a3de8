"""The signals that ask the launcher to end, as facts to look at instead of exceptions."""

import signal
import threading
import time
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Those that came while this context lasts.

    Attributes:
        received: Their numbers, in order.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._before: dict[int, object] = {}

    def __enter__(self) -> "Signals":
        # Only the main thread may change what signals do.
        if threading.current_thread() is threading.main_thread():
            for number in _NUMBERS:
                before = signal.signal(number, self._note)
                if number == signal.SIGHUP and before == signal.SIG_IGN:  # nohup
                    signal.signal(number, signal.SIG_IGN)
                self._before[number] = before
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def end_as_asked(self) -> None:
        """End this process as the first of them would have done.

        Raises:
            KeyboardInterrupt: it was SIGINT.
            SystemExit: it was another; the code is 128 and its number.
        """
        if self.received:
            if self.received[0] == signal.SIGINT:
                raise KeyboardInterrupt
            raise SystemExit(128 + self.received[0])

    def wait(self, seconds: float) -> None:
        """Wait, but no longer than until one comes."""
        deadline = time.monotonic() + seconds
        while not self.received and time.monotonic() < deadline:
            time.sleep(0.05)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
