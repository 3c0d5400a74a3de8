"""A loss that is not a number: named, never saved, and left out when that is asked for."""

import json
import re
import shutil

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdist
from tests.checkpoint import small
from tests.conformance.strategies import STRATEGIES
from tests.processes import run_tasks
from tests.transport.mpirun import mpirun
from tfdist.checkpoint.callback import GoBackError
from tfdist.checkpoint.finite import Finite
from tfdist.checkpoint.folder import newest, positions
from tfdist.errors import FailedError, StartAgainError, UsageError

BAD = (1, 3)  # epoch and step in it
WORDS = ["-m", "tfdist.train", "--dataset=tests.checkpoint.test_finite:numbers", "--epochs=2"]
WORDS = [*WORDS, "--global_batch_size=16", "--verbose=0", "--checkpoint_every_steps=2"]


def numbers():
    """128 examples of which one is bad."""
    x = np.random.RandomState(0).randn(128, 8).astype("float32")
    y = (x.sum(1) > 0).astype("int64")
    x[57, 2] = np.nan
    train = tf.data.Dataset.from_tensor_slices((x, y))
    return {"train": train, "num_classes": 2, "train_examples": 128, "input_shape": (8,)}


def data(left_out=False, bad=True):
    """The batches of all epochs in a row, of which one has a bad example in its second half."""
    rows = small.data().unbatch().batch(8, drop_remainder=True).repeat()
    at = BAD[0] * small.STEPS + BAD[1]

    def spoil(number, batch):
        x, y = batch
        spoiled = tf.tensor_scatter_nd_update(x, [[5, 1]], [np.nan])
        return tf.where(number == at, spoiled, x), y

    if left_out:
        rows = rows.enumerate().filter(lambda number, batch: number != at)
        return rows.map(lambda number, batch: batch)
    return rows.enumerate().map(spoil) if bad else rows


def fit(strategy, folder=None, rollback=False, dataset=data, synchronized=True, **saves):
    """Train, again when it goes back; return the numbers at the end and how often it went back."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = small.model(small.momentum(), dropout=0, synchronized=synchronized)
    kept = None if folder is None else tfdist.Checkpoint(folder, **saves)
    told = [kept] if "on_nan" in saves else [Finite(kept, rollback), *([kept] if kept else [])]
    for again in range(9):
        try:
            model.fit(dataset(), epochs=3, steps_per_epoch=7, verbose=0, callbacks=told)
        except GoBackError:
            continue
        return [np.asarray(v) for v in [*model.variables, *model.optimizer.variables]], again
    raise AssertionError


def _of(replicas):
    return f" of {replicas}"


@pytest.mark.parametrize(("name", "of"), [("one_device", [0]), ("mirrored", [1])])
def test_stops_names_the_step_and_keeps_the_checkpoint_before(name, of, tmp_path, monkeypatch):
    monkeypatch.setattr("tfdist.checkpoint.finite._of", _of)
    of = re.escape(_of(of))
    said = f"the loss or gradient{of} is not a number in step 4 of epoch 2; the last whole"
    with pytest.raises(FailedError, match=said + r" .*step-000000009-epoch-00001: look at"):
        fit(STRATEGIES[name].make(), tmp_path, every_steps=3, synchronized=False)
    assert positions(tmp_path)[-1].step == 9
    with pytest.raises(FailedError, match="nothing is saved"):
        fit(STRATEGIES[name].make())


def test_names_every_replica_that_a_synchronized_layer_spoils(monkeypatch):
    monkeypatch.setattr("tfdist.checkpoint.finite._of", _of)

    def lost():  # before the layer, so that its mean of both replicas is lost
        return data().map(lambda x, y: (tf.where(tf.math.is_nan(x), np.inf, x), y))

    with pytest.raises(FailedError, match=re.escape(_of([0, 1])) + " .* in step 4 of epoch 2"):
        fit(STRATEGIES["mirrored"].make(), dataset=lost)


@pytest.mark.filterwarnings("ignore:The data ended")
@pytest.mark.parametrize("steps", [3, 100])
def test_goes_back_and_leaves_that_batch_out(steps, tmp_path, capsys):
    strategy = STRATEGIES["mirrored"].make()
    expected, _ = fit(strategy, dataset=lambda: data(left_out=True).take(20))
    found, times = fit(strategy, tmp_path, rollback=True, every_steps=steps, at_begin=True)
    assert times == 1
    assert "goes back there and leaves out batch 4" in capsys.readouterr().err
    # As many batches, of which the last epoch of the other had one less.
    assert small.differences(expected, found) == []


@pytest.mark.filterwarnings("ignore:The data ended")
def test_the_users_own_fit_leaves_it_out_when_it_is_started_again(tmp_path):
    strategy = STRATEGIES["mirrored"].make()
    expected, _ = fit(strategy, dataset=lambda: data(left_out=True).take(20))
    own = {"every_steps": 3, "on_nan": "rollback"}
    told = r"step 4 of epoch 2; the last .*step-000000009.*: start the job again, which goes on th"
    with pytest.raises(StartAgainError, match=told + "ere and leaves out batch 4"):
        fit(strategy, tmp_path, **own)
    found, _ = fit(strategy, tmp_path, **own)
    assert small.differences(expected, found) == []
    with pytest.raises(StartAgainError, match=told):  # begun afresh it knows of none
        fit(strategy, tmp_path, **own, resume="never")
    with pytest.raises(FailedError, match="or on_nan=rollback to leave it out"):
        fit(strategy, tmp_path, every_steps=3, on_nan="stop", resume="never")
    with pytest.raises(UsageError, match="on_nan is 'back': give one of ignore, stop, rollback"):
        tfdist.Checkpoint(tmp_path, on_nan="back")


def test_never_begins_anew_when_what_it_goes_back_to_was_removed(tmp_path):
    kept = tfdist.Checkpoint(tmp_path / "saved", every_steps=3, at_begin=True)
    model = small.model(small.momentum(), dropout=0)
    words = {"epochs": 3, "steps_per_epoch": 7, "verbose": 0}
    with pytest.raises(GoBackError):
        model.fit(data(), **words, callbacks=[Finite(kept, rollback=True), kept])
    shutil.rmtree(tmp_path / "saved")
    with pytest.raises(FailedError, match=r"no checkpoint to go back to: those in .* were removed"):
        model.fit(data(), **words, callbacks=[Finite(kept, rollback=True), kept])


def test_a_weight_that_is_not_a_number_is_never_saved(tmp_path):
    class Spoil(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.trainable_weights[0].assign(self.model.trainable_weights[0] * np.nan)

    model = small.model(small.momentum())
    saves = tfdist.Checkpoint(tmp_path)
    with pytest.raises(FailedError, match=r"kernel has values that are not a number in step 7 of"):
        model.fit(small.data(), epochs=2, verbose=0, callbacks=[Spoil(), Finite(saves), saves])
    assert positions(tmp_path) == []


def test_two_workers_go_back_together_and_name_the_task(tmp_path):
    more = [f"--checkpoint_dir={tmp_path}", "--on_nan=rollback", "--async_save"]
    ended = run_tasks([*WORDS, *more], workers=2)
    assert [task.returncode for task in ended] == [0, 0], ended
    said = [line for line in ended[0].stderr.splitlines() if "not a number" in line]
    assert len(said) == 2  # the example is in one batch of each epoch
    assert all("the loss or gradient of worker " in line for line in said)
    records = [json.loads(task.stdout.splitlines()[-1]) for task in ended]
    assert records[0]["weights_digest"] == records[1]["weights_digest"]
    assert records[0]["steps"] == 14
    assert np.isfinite(records[0]["loss"])


def test_over_mpi_it_stops_names_step_and_task_and_the_checkpoint_is_whole(tmp_path):
    words = [*WORDS, "--transport=mpi", f"--checkpoint_dir={tmp_path / 'saved'}"]
    result = mpirun(words, tmp_path)
    assert result.returncode == 1, result
    told = r"the loss or gradient of worker [01] is not a number in step (\d+) of epoch 1; the last"
    steps = {int(step) for step in re.findall(told, result.stderr)}
    assert len(steps) == 1, result.stderr
    manifest, damaged = newest(tmp_path / "saved", 2, lambda said: None)
    assert (manifest["step"], damaged) == ((steps.pop() - 1) // 2 * 2, [])
