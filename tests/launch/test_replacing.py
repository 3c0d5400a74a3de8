"""A worker of parameter servers that dies: the others go on, and it comes back. No step is lost."""

import json

import pytest

from tests.launch.launching import launch
from tfdist.cluster import Task
from tfdist.errors import StartAgainError
from tfdist.launch.ended import Ended
from tfdist.launch.replacing import Replacing
from tfdist.launch.restarts import Restarts

CHIEF, PS, ONE, TWO = Task("chief", 0), Task("ps", 0), Task("worker", 0), Task("worker", 1)
# Each step takes 1/1024 from each of the weights. Worker 1 is killed in the middle of the second
# epoch; the chief goes on until it is back, and for two epochs more.
TRAIN = """
import json, os, signal, threading, time
from pathlib import Path
task = json.loads(os.environ["TF_CONFIG"])["task"]
begun, died = (Path(os.environ["FOLDER"]) / name for name in ("begun", "died"))

def die():
    while not begun.exists(): time.sleep(0.01)
    died.touch()
    os.kill(os.getpid(), signal.SIGKILL)

if task == {"type": "worker", "index": 1} and not died.exists():
    threading.Thread(target=die, daemon=True).start()

import tfdist
strategy = tfdist.strategy(devices="cpu")
import keras, numpy as np
from tfdist.factory import current

class UntilItIsBack(keras.callbacks.Callback):
    back, steps, lost = None, 0, False
    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1
        if self.steps == 20: begun.touch()
        time.sleep(0.01)
    def on_epoch_end(self, epoch, logs=None):
        missing = current().channel.missing
        self.lost |= bool(missing)
        if self.lost and not missing and self.back is None: self.back = epoch
        self.model.stop_training = self.back is not None and epoch == self.back + 2

with strategy.scope():
    model = keras.Sequential(
        [keras.Input((4,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="zeros")])
    model = tfdist.distribute(model)
    model.compile(keras.optimizers.SGD(1 / 1024), lambda y, p: p)
ends = UntilItIsBack()
model.fit(np.ones((64, 4)), np.ones((64, 1)), 4, epochs=1000, verbose=0, callbacks=[ends])
print(json.dumps({
    "steps": ends.steps, "back": ends.back,
    "counted": int(model.optimizer.iterations.numpy()),
    "taken": (-1024 * model.get_weights()[0]).ravel().tolist(),
}), flush=True)
"""


def test_a_worker_that_is_killed_comes_back_and_no_step_is_lost(tmp_path):
    flags = ["--chief", "--workers=2", "--ps=1", "--max_restarts=1"]
    done = launch(TRAIN, *flags, timeout=240, env={"FOLDER": str(tmp_path)})
    assert done.returncode == 0, done.stderr[-6000:]
    found = json.loads(done.stdout.splitlines()[-1].removeprefix("[chief 0] "))
    # What the killed one had done without having said so is done twice: its steps in flight.
    assert found["steps"] <= found["counted"] <= found["steps"] + 8, found
    assert found["taken"] == pytest.approx([found["counted"]] * 4, abs=1), found
    assert found["back"] is not None
    said = done.stderr
    assert "worker 1 on this machine has died (killed by SIGKILL); its steps are run again" in said
    assert "starting worker 1 again (restart 1 of 1)" in said
    assert "starting all tasks again" not in said
    of_chief = [line for line in said.splitlines() if line.startswith("[chief 0] ")]
    assert sum("tfdist: worker 1 at" in line for line in of_chief) == 2, of_chief
    assert not [line for line in of_chief if "ERROR:tensorflow" in line]


class Stands:
    """Stands for a process."""

    def __init__(self, task):
        self.task = task


def replacing(restarts, again=lambda before: Stands(before.task)):
    said = []
    return Replacing(Restarts(restarts, 0), again, said.append), said


def died(worker, others, code=-9, restarts=0):
    """Whether others go on without a worker, and what is said."""
    those, said = replacing(restarts)
    running = [Stands(task) for task in others]
    return those.go_on_without(Stands(worker), Ended(worker, code), running), said


def test_without_a_restart_those_that_are_left_go_on():
    goes_on, said = died(TWO, [CHIEF, PS, ONE])
    assert goes_on
    assert said == [
        "worker 1 on this machine has died (killed by SIGKILL); its steps are run again on those "
        "that are left, as there is no restart left"
    ]


@pytest.mark.parametrize(
    ("task", "others", "code"),
    [
        (TWO, [CHIEF, PS], -9),  # all go on from a checkpoint, so that no step is done twice
        (TWO, [PS, ONE], -9),  # the chief has died too
        (TWO, [CHIEF, ONE], -9),  # no parameter servers: each is needed
        (PS, [CHIEF, ONE, TWO], -9),
        (TWO, [CHIEF, PS, ONE], 2),  # by its own doing
        (TWO, [CHIEF, PS, ONE], 75),
    ],
)
@pytest.mark.parametrize("restarts", [0, 3])
def test_what_ends_the_group(task, others, code, restarts):
    assert died(task, others, code, restarts) == (False, [])


def test_one_of_two_is_started_again_as_often_as_there_are_restarts():
    those, said = replacing(2)
    running = [Stands(CHIEF), Stands(PS), Stands(TWO)]
    for _ in range(2):
        assert those.go_on_without(Stands(ONE), Ended(ONE, -15), running)
        (new,) = those.begin()
        assert new.task == ONE
        assert those.begin() == []
    assert those.go_on_without(Stands(ONE), Ended(ONE, -15), running)
    assert those.begin() == []
    assert [line for line in said if line.startswith("starting")] == [
        "starting worker 0 again (restart 1 of 2)",
        "starting worker 0 again (restart 2 of 2)",
    ]


def test_one_that_cannot_be_started_is_done_without():
    def cannot(before):
        raise StartAgainError("its host is gone")

    those, said = replacing(2, cannot)
    running = [Stands(CHIEF), Stands(PS), Stands(ONE)]
    assert those.go_on_without(Stands(TWO), Ended(TWO, -9), running)
    assert those.begin() == []
    assert said[-1] == "its host is gone; the others go on without it"
