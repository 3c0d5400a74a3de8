"""What holds for all tests."""

import signal

# A shell lets what it starts in the background ignore Ctrl-C, and so would all tasks of a test.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
