"""Kill a training at random, let it go on, and compare it with one that nothing disturbed.

`python -m tests.checkpoint.chaos --kills=20 --tasks=two_workers` prints what was done and found.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from tests.processes import _environment

EXAMPLES = 203
TASKS = {
    "two_workers": ("--workers=2",),
    "one_device": ("--workers=1",),
    "mirrored": ("--workers=1",),
    "central_storage": ("--workers=1",),
    "parameter_server": ("--workers=1", "--chief", "--ps=1"),
}
STRATEGIES = {"two_workers": "multi_worker"}
MOMENTS = ("while it starts", "while it trains", "during a save")
_LAUNCHED_SECONDS = 120
_TRAINED = "tests.checkpoint.tallied"


@dataclass
class Kill:
    """What was done to which task, when."""

    task: str
    name: str
    moment: str


@dataclass
class Outcome:
    """What became of a run: its end's arrays, what was done to it, and its launcher's words."""

    code: int
    arrays: dict
    kills: list
    said: str

    @property
    def times_seen(self):
        """How often each example was seen."""
        return next(a for a in self.arrays.values() if a.shape == (EXAMPLES,))


def run(tasks, folder, epochs, kills=0, seed=0):
    """Run a training under the launcher to its end, killing tasks as many times."""
    folder = Path(folder)
    saved, chance = folder / "saved", random.Random(seed)
    done = []
    with (
        open(folder / "said", "w+") as said,
        subprocess.Popen(
            _words(tasks, saved, epochs, kills),
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**_environment(), "TMPDIR": str(folder)},
            start_new_session=True,
        ) as launcher,
    ):
        try:
            for number in range(kills):
                done.append(_kill(launcher, saved, MOMENTS[number % len(MOMENTS)], chance))
            launcher.wait(_LAUNCHED_SECONDS + epochs)
        except (RuntimeError, TimeoutError) as error:
            sys.stderr.write(f"{error}\n")
        finally:
            launcher.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                launcher.wait(20)
            launcher.kill()
        said.seek(0)
        return Outcome(launcher.wait(), ending(saved), done, said.read())


def _words(tasks, saved, epochs, kills):
    train = [
        *("-m", "tfdist.train", f"--strategy={STRATEGIES.get(tasks, tasks)}"),
        *(f"--dataset={_TRAINED}:data", f"--model={_TRAINED}:model"),
        *("--global_batch_size=16", f"--epochs={epochs}", "--verbose=0"),
        *(f"--checkpoint_dir={saved}", "--checkpoint_every_steps=5"),
    ]
    if tasks in ("mirrored", "central_storage"):
        train.append("--devices=cpu:2")
    launch = ["-m", "tfdist.launch", *TASKS[tasks], f"--max_restarts={kills}"]
    return [sys.executable, *launch, "--restart_seconds=0", "--", *train]


def _kill(launcher, saved, moment, chance):
    name = chance.choice(["SIGKILL", "SIGTERM"])
    until(launcher, lambda: running(launcher.pid))
    if moment == "while it starts":
        time.sleep(chance.uniform(0, 6))
    else:
        before = names(saved)
        until(launcher, lambda: names(saved) - before)
        time.sleep(chance.uniform(0, 0.5))
    if moment == "during a save":
        until(launcher, lambda: any(n.startswith(".step-") for n in names(saved)))
    until(launcher, lambda: running(launcher.pid))  # again: it may just be starting once more
    tasks = running(launcher.pid)
    task = chance.choice(sorted(tasks))
    tasks[task].send_signal(getattr(signal, name))
    until(launcher, lambda: not any(each.is_running() for each in tasks.values()))
    return Kill(task, name, moment)


def until(launcher, condition):
    """Wait until something is so while a launcher runs."""
    deadline = time.monotonic() + _LAUNCHED_SECONDS
    while not condition():
        if launcher.poll() is not None:
            raise RuntimeError(f"the launcher has ended with {launcher.returncode}")
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing came within {_LAUNCHED_SECONDS} s")
        time.sleep(0.0005)


def running(launcher):
    """The tasks that run under a launcher, by name."""
    found = {}
    for process in psutil.Process(launcher).children(recursive=True):
        with contextlib.suppress(psutil.Error, KeyError):
            if "tfdist.train" in process.cmdline():
                task = json.loads(process.environ()["TF_CONFIG"])["task"]
                found[f"{task['type']} {task['index']}"] = process
    return found


def names(saved):
    """What is in a folder of checkpoints, unfinished ones too."""
    with contextlib.suppress(FileNotFoundError):
        return {name for name in os.listdir(saved) if "step-" in name}
    return set()


def ending(saved):
    """The arrays that a run ended with, empty when it did not."""
    for path in saved.glob("step-*-end/state.npz"):
        with np.load(path) as file:
            return {name: file[name] for name in file.files if "callback" not in name}
    return {}


def differences(left, right):
    """The names of the arrays that are not equal bit by bit."""
    return [
        name
        for name in {*left, *right}
        if name not in left or name not in right or left[name].tobytes() != right[name].tobytes()
    ]


def main():
    """Show what random kills do to a run."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--kills", type=int, default=20)
    words.add_argument("--tasks", choices=TASKS, default="two_workers")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--epochs_a_kill", type=int, default=8)
    asked = words.parse_args()
    epochs = asked.epochs_a_kill * (asked.kills + 1)
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as disturbed:
        undisturbed = run(asked.tasks, calm, epochs)
        outcome = run(asked.tasks, disturbed, epochs, asked.kills, asked.seed)
        for kill in outcome.kills:
            sys.stdout.write(f"{kill.name} to {kill.task} {kill.moment}\n")
        seen = outcome.times_seen if outcome.arrays else np.zeros(1)
        sys.stdout.write(
            f"{len(outcome.kills)} kills, exit codes {undisturbed.code} and {outcome.code}, "
            f"{len(undisturbed.arrays)} arrays of which differ "
            f"{differences(undisturbed.arrays, outcome.arrays)}; {epochs} epochs, each example "
            f"seen {seen.min():g} to {seen.max():g} times\n"
        )
        if outcome.code:
            sys.stdout.write(outcome.said[-6000:])


if __name__ == "__main__":
    main()
