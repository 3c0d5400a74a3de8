"""Several tasks: one of them writes, all go on from the same step."""

from tests.processes import run_tasks

EQUAL = """
import os, sys
from pathlib import Path
import tfdist
strategy = tfdist.strategy({name!r}, seed=1)
from tests.checkpoint.small import STOP, adam, differences, train
from tfdist.checkpoint import storage
folder = Path({folder!r})
writes = []
original = storage.write
import tfdist.checkpoint.content as content
content.write = lambda *words: (writes.append(words[1]), original(*words))
undisturbed = train(strategy)
assert train(strategy, folder=folder, stop=STOP, every_steps=3) is None
resumed = train(strategy, folder=folder, every_steps=3)
print("RESULT", differences(undisturbed, resumed), len(writes))
"""


def results(name, folder, **tasks):
    script = EQUAL.format(name=name, folder=str(folder))
    ended = run_tasks(script, timeout_seconds=150, **tasks)
    assert [task.returncode for task in ended] == [0] * len(ended), ended
    told = [line for task in ended for line in task.stdout.splitlines() if "RESULT" in line]
    return told, [task.stderr for task in ended]


def test_two_workers(tmp_path):
    told, said = results("multi_worker", tmp_path, workers=2)
    assert told == ["RESULT [] 9", "RESULT [] 0"]
    assert "goes on after step 9 " in said[0]
    assert "goes on" not in said[1]


def test_parameter_server_with_one_worker(tmp_path):
    told, said = results("parameter_server", tmp_path, workers=1, ps=1, chief=True)
    assert told == ["RESULT [] 9"]
    assert "goes on after step 9 " in said[0]
