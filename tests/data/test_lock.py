import os
import subprocess
import sys

import pytest

from tfdist.data.lock import held
from tfdist.errors import StartAgainError

HOLD_UNTIL_TOLD = """
import sys
from pathlib import Path
from tfdist.data.lock import held
with held(Path(sys.argv[1]), "hold the lock", 5.0):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock tmp_path/lock until its standard input has a line."""
    command = [sys.executable, "-c", HOLD_UNTIL_TOLD, str(tmp_path / "lock")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_wait_ends_with_a_sentence_that_names_the_holder(tmp_path, holder):
    expected = rf"waited 1 s for process {holder.pid} on \S+ to prepare digits"
    patience = held(tmp_path / "lock", "prepare digits", 1.0)
    with pytest.raises(StartAgainError, match=expected), patience:
        pass


def test_who_is_waited_for_is_said(tmp_path, holder, caplog):
    with pytest.raises(StartAgainError), held(tmp_path / "lock", "prepare digits", 0.5):
        pass
    assert f"waiting for process {holder.pid} on" in caplog.text
    assert "to prepare digits (0 of at most 0 s)" in caplog.text


def test_lock_is_free_once_its_holder_was_killed(tmp_path, holder):
    holder.kill()
    holder.wait()
    with held(tmp_path / "lock", "prepare digits", 0.0):
        assert (tmp_path / "lock").read_text().startswith(f"process {os.getpid()} on")


def test_lock_is_free_once_its_holder_has_finished(tmp_path, holder):
    holder.stdin.write("\n")
    holder.stdin.flush()
    holder.wait()
    with held(tmp_path / "lock", "prepare digits", 0.0):
        pass
