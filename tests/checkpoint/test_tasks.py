"""Several tasks: one of them writes, all go on from the same step, and end at the same step."""

import numpy as np

from tests.checkpoint import small
from tests.conformance.strategies import STRATEGIES
from tests.processes import run_tasks

BEGIN = """
import os, signal
from pathlib import Path
import keras, numpy as np, tfdist
strategy = tfdist.strategy({name!r}, seed=1)
import tfdist.checkpoint.content as content
from tests.checkpoint import small
folder = Path({folder!r})
me = tfdist.factory.current().cluster.task
writes, write = [], content.write
content.write = lambda *words: (writes.append(words[1]), write(*words))
"""
SIGNALLED = """
class Signalled(small.Stop):
    def on_train_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == self.at and me.index == 1:
            os.kill(os.getpid(), signal.SIGUSR1)
undisturbed = small.train(strategy)
if me.index == 0:
    np.savez(folder / "undisturbed.npz", *undisturbed)
small.Stop = Signalled
small.train(strategy, folder=folder / "saved", stop=small.STOP, every_steps=50)
"""
RESUMED = """
with np.load(folder / "undisturbed.npz") as file:
    undisturbed = [file[name] for name in file.files]
resumed = small.train(strategy, folder=folder / "saved", every_steps=3)
print("RESULT", small.differences(undisturbed, resumed), len(writes))
"""
STOPPED = """
import shutil
undisturbed = small.train(strategy, small.momentum, dropout=0)
again = dict(folder=folder / "saved", dropout=0, every_steps=3)
assert small.train(strategy, small.momentum, stop=small.STOP, **again) is None
shutil.copytree(folder / "saved", folder / "copied")
resumed = small.train(strategy, small.momentum, **again)
np.savez(folder / "resumed.npz", *resumed)
print("RESULT", small.differences(undisturbed, resumed), len(writes))
"""


def run(does, name, folder, code=0, **tasks):
    begin = BEGIN.format(name=name, folder=str(folder))
    ended = run_tasks(begin + does, timeout_seconds=150, **tasks)
    assert [task.returncode for task in ended] == [code] * len(ended), ended
    told = [line for task in ended for line in task.stdout.splitlines() if "RESULT" in line]
    return told, [task.stderr for task in ended]


def test_a_signal_to_one_worker_ends_all_at_the_same_step(tmp_path):
    _, said = run(SIGNALLED, "multi_worker", tmp_path, code=75, workers=2)
    # The signal comes in the 11th step, and reaches the process in this call or the next.
    assert "asked to end: saved after step 1" in said[0]
    assert "Traceback" not in said[0] + said[1]
    told, said = run(RESUMED, "multi_worker", tmp_path, workers=2)
    assert [line.rpartition(" ")[0] for line in told] == ["RESULT []"] * 2
    assert int(told[0].split()[-1]) > 0
    assert told[1] == "RESULT [] 0"  # the chief alone writes
    assert "goes on after step 1" in said[0]
    assert "goes on" not in said[1]


def test_parameter_server_with_one_worker_and_without(tmp_path):
    told, said = run(STOPPED, "parameter_server", tmp_path, workers=1, ps=2, chief=True)
    assert told == ["RESULT [] 9"]
    assert "goes on after step 9 " in said[0]
    with np.load(tmp_path / "resumed.npz") as file:
        served = [file[name] for name in file.files]
    strategy = STRATEGIES["mirrored"].make()
    saved = tmp_path / "copied"
    alone = small.train(strategy, small.momentum, folder=saved, dropout=0, every_steps=3)
    assert small.differences(served, alone, 1e-5) == []
