"""Two workers, then one, then two again: the numbers of a run that nothing disturbed."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.checkpoint.chaos import differences, ending, names, running, until
from tests.processes import _environment, run_alone
from tfdist.checkpoint.folder import positions
from tfdist.checkpoint.storage import read_manifest

# Reaches "hosts" on this machine, but those for which there is a file.
SSH = """#!{python}
import os, sys
words = sys.argv[1:]
name, *command = words[words.index("--") + 1:]
if "-G" in words:
    sys.exit(print("hostname 127.0.0.1"))
if os.path.exists({folder!r} + "/down-" + name):
    sys.exit("no route to " + name)
os.execv("/bin/sh", ["sh", "-c", *command])
"""
TRAIN = (
    *("-m", "tfdist.train", "--dataset=tests.checkpoint.tallied:data", "--verbose=0"),
    *("--model=tests.checkpoint.tallied:steady", "--optimizer=sgd", "--epochs=40"),
)


def test_two_one_two(tmp_path):
    saved = tmp_path / "saved"
    ssh = tmp_path / "ssh"
    ssh.write_text(SSH.format(python=sys.executable, folder=str(tmp_path)))
    ssh.chmod(0o755)
    words = [
        *("-m", "tfdist.launch", "--hosts=first,second", f"--ssh={ssh}", "--min_workers=1"),
        *("--max_restarts=2", "--restart_seconds=0", f"--log_dir={tmp_path / 'logs'}", "--"),
        # The share of a worker stays that of the first start when there are fewer.
        *(*TRAIN, "--batch_size_per_replica=8", f"--checkpoint_dir={saved}"),
        *("--checkpoint_every_steps=10", "--keep=99"),
    ]
    with subprocess.Popen(
        [sys.executable, *words], stderr=subprocess.PIPE, text=True, env=_environment()
    ) as launcher:
        try:
            disturb(launcher, saved, tmp_path / "down-second")
            said = launcher.communicate(timeout=90)[1]
        finally:
            launcher.kill()
    assert launcher.returncode == 0, said
    assert "no route to second" in said
    assert "goes on without it, 1 worker left" in said
    shapes = [read_manifest(saved / each.name)["replicas"] for each in positions(saved)]
    assert [n for n, before in zip(shapes, [0, *shapes], strict=False) if n != before] == [2, 1, 2]
    alone = [*TRAIN, "--strategy=one_device", "--global_batch_size=16"]
    reference = run_alone([*alone, f"--checkpoint_dir={tmp_path / 'alone'}"])
    assert reference.returncode == 0, reference.stderr
    expected, found = ending(tmp_path / "alone"), ending(saved)
    assert set(expected) == set(found)
    assert differences(expected, found) != []  # sums in another order: it did go to and fro
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4, atol=1e-6)
    record = json.loads(reference.stdout.splitlines()[-1])
    assert record["steps"] == pytest.approx(40 * 13)


def disturb(launcher, saved, down):
    """Kill the second worker, whose host is lost; later end the first, and the host is back."""
    for number, lost in ((signal.SIGKILL, True), (signal.SIGTERM, False)):
        before = names(saved)
        until(launcher, lambda before=before: names(saved) - before)
        tasks = running(launcher.pid)
        if lost:
            down.write_text("")
        else:
            down.unlink()
        tasks["worker 1" if lost else "worker 0"].send_signal(number)
        until(launcher, lambda tasks=tasks: not any(t.is_running() for t in tasks.values()))
