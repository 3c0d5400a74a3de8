"""Signals to a real process that works, or that is stuck where Python runs no handler."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.checkpoint import small
from tfdist.checkpoint.folder import newest
from tfdist.checkpoint.signals import Watch

ROOT = Path(__file__).resolve().parents[2]
WATCH = """
import ctypes, sys, time
from tfdist.checkpoint.signals import Watch
watch = Watch(grace_seconds={grace}).start()
print("ready", flush=True)
deadline = time.monotonic() + 30
while time.monotonic() < deadline:
    {does}
"""
NOTICES = "watch.asked and (print(watch.asked, flush=True), sys.exit(3))"
IGNORES = "watch.asked and deadline and print(watch.asked, flush=True)"
# As TensorFlow does in a collective: it waits in C, where Python sees no signal.
STUCK = "ctypes.CDLL(None).sleep(30)"


# Trains, and says so when its second checkpoint is written but not yet there.
SAVES = """
import time, tfdist
from tfdist.checkpoint import signals, storage
watches, calls, start, flush = [], [], signals.Watch.start, storage.flush
def started(watch):
    watches.append(watch)
    return start(watch)
def slow(*words):
    calls.append(words)
    if len(calls) == 3:
        print("writes", flush=True)
        while not watches[0].asked: time.sleep(0.01)
        print("asked", flush=True)
        time.sleep(60)
    flush(*words)
signals.Watch.start, storage.flush = started, slow
from tests.checkpoint import small
small.train(tfdist.strategy("one_device"), folder={folder!r}, every_steps=3)
"""


def end(grace, does, *numbers):
    """Send signals to a process that watches for them; return how it ended."""
    return signalled(WATCH.format(grace=grace, does=does), *numbers)


def signalled(script, *numbers):
    """Send signals to a process, each when it has said something; return how it ended."""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        for number in numbers:
            process.stdout.readline()
            process.send_signal(number)
        out, said = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_is_noted(number):
    code, out, said = end(20, NOTICES, number)
    assert (code, out, said) == (3, f"{number.name}\n", "")


def test_the_second_ends_at_once():
    code, _, said = end(20, IGNORES, signal.SIGUSR1, signal.SIGTERM)
    assert code == 75
    assert said == "tfdist: SIGTERM came after SIGUSR1: ended at once; start the job again.\n"


def test_the_second_ends_a_training_in_a_save_and_the_last_checkpoint_is_whole(tmp_path):
    script = SAVES.format(folder=str(tmp_path))
    code, _, said = signalled(script, signal.SIGTERM, signal.SIGTERM)
    assert code == 75, said
    assert "tfdist: SIGTERM came after SIGTERM: ended at once; start the job again.\n" in said
    manifest, damaged = newest(tmp_path, small.EPOCHS, lambda said: None)
    assert (manifest["step"], damaged) == (3, [])


def test_the_grace_period_ends_also_where_python_cannot_act():
    code, _, said = end(0.2, STUCK, signal.SIGTERM)
    assert code == 75
    assert "not saved within the 0.2 s after SIGTERM: ended at once" in said


def test_without_grace_it_ends_at_once():
    code, _, said = end(0, STUCK, signal.SIGTERM)
    assert code == 75
    assert "SIGTERM came when there was nothing to save: ended at once" in said


def test_when_it_no_longer_watches_signals_do_what_they_did():
    stops = "watch.stop(); print('stopped', flush=True); time.sleep(20)"
    code, _, said = end(20, stops, signal.SIGURG, signal.SIGTERM)  # nobody minds the first
    assert (code, said) == (-signal.SIGTERM, "")


def test_watched_again_and_again():
    watch = Watch(grace_seconds=20)
    try:
        for _ in range(300):  # an error that ended a fit() left it watching
            watch.start()
        os.kill(os.getpid(), signal.SIGUSR1)
        deadline = time.monotonic() + 10
        while watch.asked is None and time.monotonic() < deadline:
            time.sleep(0.001)
        assert watch.asked == "SIGUSR1"
    finally:
        watch.stop()
