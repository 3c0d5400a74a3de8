"""`python -m tfdist.train`, killed, asked to end and started again: the numbers of one run."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.processes import run_alone, start_tasks, wait_all

DOOR = ["-m", "tfdist.train", "--dataset=digits", "--global_batch_size=64", "--learning_rate=0.01"]
FEW, MANY = "--epochs=2", "--epochs=30"


def door(folder, *words):
    return [*DOOR, *words, f"--checkpoint_dir={folder}", "--checkpoint_every_steps=10"]


def record(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def wait_for_checkpoints(folder, count, running):
    """Wait until there are so many, none of them that of the end."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):
            names = sorted(name for name in os.listdir(folder) if name.startswith("step-"))
            if len(names) >= count:
                assert not names[-1].endswith("end")
                return
        assert running.poll() is None
        time.sleep(0.02)
    raise TimeoutError(os.listdir(folder))


@pytest.fixture(scope="module")
def undisturbed():
    return record(run_alone([*DOOR, MANY]))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 75)])
def test_started_again_after_its_end(number, code, undisturbed, tmp_path):
    words = [sys.executable, *door(tmp_path, MANY)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_for_checkpoints(tmp_path, 2, process)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == code, said
    assert ("asked to end: saved after step " in said) == (code == 75)
    resumed = run_alone(door(tmp_path, MANY))
    assert "goes on after step " in resumed.stderr
    for name in ("weights_digest", "loss", "val_accuracy", "steps", "examples"):
        assert record(resumed)[name] == undisturbed[name], name
    again = run_alone(door(tmp_path, MANY))
    assert "training had ended" in again.stderr
    assert "Epoch" not in again.stdout
    assert record(again)["weights_digest"] == undisturbed["weights_digest"]
    assert record(again)["val_loss"] == undisturbed["val_loss"]


def test_a_signal_to_one_worker_ends_all_at_the_same_step(tmp_path):
    words = [*DOOR, "--epochs=10", "--checkpoint_every_steps=10", "--checkpoint_dir"]
    with start_tasks([*words, str(tmp_path / "whole")], workers=2) as running:
        whole = wait_all(running, 120)
    with start_tasks([*words, str(tmp_path / "parts")], workers=2) as running:
        wait_for_checkpoints(tmp_path / "parts", 2, running[1].process)
        running[1].process.send_signal(signal.SIGUSR1)
        ended = wait_all(running, 60)
    assert [task.returncode for task in ended] == [75, 75], ended
    with start_tasks([*words, str(tmp_path / "parts")], workers=2) as running:
        resumed = wait_all(running, 120)
    assert "goes on after step " in resumed[0].stderr
    assert record(resumed[0])["weights_digest"] == record(whole[0])["weights_digest"]
    assert record(resumed[1])["weights_digest"] == record(whole[0])["weights_digest"]


def test_another_batch_size_is_refused(tmp_path):
    record(run_alone(door(tmp_path, FEW)))
    ended = run_alone([*door(tmp_path, FEW), "--global_batch_size=32"])
    assert ended.returncode == 2
    assert "is of a run with global_batch_size 64, and 32 was given: give" in ended.stderr


def test_a_folder_that_cannot_be_made_is_told_in_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    ended = run_alone(door(tmp_path / "file" / "folder", FEW))
    assert ended.returncode == 2
    assert "cannot be written to" in ended.stderr
    assert "Traceback" not in ended.stderr
