"""Run `python -m tfdist.launch` as a real process, and look for what it leaves behind."""

import contextlib
import subprocess
import sys
import time

import psutil

from tests.processes import _environment

# A task that names its process and then waits for ever, deaf to all that can be ignored.
DEAF = """
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
print("pid", os.getpid(), flush=True)
while True: time.sleep(60)
"""
# Waits for ever with a process of its own, which waits too.
WITH_CHILD = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("pid", os.getpid(), flush=True)
print("pid", child.pid, flush=True)
time.sleep(600)
"""
# ROLE is "worker 1", for example.
ROLE = """
import json, os, signal, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
ROLE = f"{task['type']} {task['index']}"
"""


def launch(code, *flags, timeout=60, env=None):
    """Run a launcher to its end; `code` is what each task does."""
    return subprocess.run(
        words(code, *flags), capture_output=True, text=True, timeout=timeout, env=environment(env)
    )


@contextlib.contextmanager
def launched(code, *flags, pids, env=None, before=()):
    """A launcher whose tasks have said `pids` process numbers; gives it and their processes."""
    with subprocess.Popen(
        [*before, *words(code, *flags)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(env),
    ) as launcher:
        try:
            said = [launcher.stdout.readline().split() for _ in range(pids)]
            yield launcher, [psutil.Process(int(line[-1])) for line in said]
        finally:
            launcher.kill()


def words(code, *flags):
    return [sys.executable, "-m", "tfdist.launch", *flags, "--", "-c", code]


def environment(more=None):
    return {**_environment(), **(more or {})}


def left(processes, seconds=10):
    """Those that have not ended in time."""
    return psutil.wait_procs(processes, timeout=seconds)[1]


def seconds_of(action):
    begun = time.monotonic()
    action()
    return time.monotonic() - begun
