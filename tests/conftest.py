"""What holds for all tests."""

import os
import signal

import pytest

# A shell lets what it starts in the background ignore Ctrl-C, and so would all tasks of a test.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _environment_as_before():
    """A test that sets what a command would set does not set it for those that come after."""
    before = dict(os.environ)
    yield
    now = dict(os.environ)
    for name in before.keys() | now.keys():
        if name.startswith("PYTEST_"):  # its own
            continue
        if name not in before:
            del os.environ[name]
        elif now.get(name) != before[name]:
            os.environ[name] = before[name]
