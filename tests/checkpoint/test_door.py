"""`python -m tfdist.train`, killed, asked to end and started again: the numbers of one run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

from tests.processes import run_alone

DOOR = ["-m", "tfdist.train", "--dataset=digits", "--global_batch_size=64", "--epochs=15"]
SAME = ("weights_digest", "loss", "accuracy", "val_loss", "val_accuracy", "steps", "examples")


def names(folder):
    with contextlib.suppress(FileNotFoundError):
        return {name for name in os.listdir(folder) if name.startswith("step-")}
    return set()


def send(number, folder, words):
    """Start a run, send it a signal once it has saved twice, and return its code and words."""
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    before = names(folder)
    try:
        deadline = time.monotonic() + 60
        while len(names(folder) - before) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert not [name for name in names(folder) if name.endswith("end")], "it was too late"
    return process.returncode, said


def record(result):
    assert result.returncode == 0, result.stderr
    last = json.loads(result.stdout.splitlines()[-1])
    assert last.get("save_seconds", 0) > 0 or not last.get("saves")
    return {name: json.loads(result.stdout.splitlines()[-1])[name] for name in SAME}


def test_killed_asked_to_end_and_started_again(tmp_path):
    undisturbed = record(run_alone(DOOR))
    words = [*DOOR, f"--checkpoint_dir={tmp_path}", "--checkpoint_every_steps=10", "--keep=4"]
    assert send(signal.SIGKILL, tmp_path, words)[0] == -signal.SIGKILL
    code, said = send(signal.SIGTERM, tmp_path, words)
    assert code == 75
    assert "goes on after step " in said
    assert "asked to end: saved after step " in said
    resumed = run_alone(words)
    assert "goes on after step " in resumed.stderr
    assert record(resumed) == undisturbed
    again = run_alone(words)
    assert "training had ended" in again.stderr
    assert "Epoch" not in again.stdout
    assert record(again) == undisturbed
