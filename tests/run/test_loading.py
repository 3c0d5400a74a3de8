"""What libraries write to standard error while TensorFlow loads."""

import subprocess
import sys

# The line comes past Python, as TensorFlow's do.
HOLD_BACK = """
import os, sys
from tfdist.run.loading import _held_back
with _held_back():
    os.write(2, b"from C++\\n")
    {last}
sys.stderr.write("afterwards\\n")
"""


def stderr(last: str) -> str:
    code = HOLD_BACK.format(last=last)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=30).stderr


def test_is_held_back():
    assert stderr("pass") == "afterwards\n"


def test_is_shown_when_loading_fails():
    text = stderr("raise ImportError('broken')")
    assert text.startswith("from C++\n")
    assert text.rstrip().endswith("ImportError: broken")
