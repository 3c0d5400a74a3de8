"""What is refused, before any step is made."""

import shutil
import signal

import keras
import numpy as np
import pytest

from tests.checkpoint.small import Stop, StopError, data, model, momentum
from tests.checkpoint.test_damage import fill
from tfdist import Checkpoint
from tfdist.checkpoint.folder import positions
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.storage import write
from tfdist.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"keep": 0}, "keep is 0, but must be 1 or more"),
        ({"resume": "maybe"}, "resume is 'maybe': give one of auto, never"),
        ({"every_steps": -1}, "every_steps is -1, but must be above 0"),
    ],
)
def test_wrong_values(arguments, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        Checkpoint(tmp_path, **arguments)


def test_a_run_with_other_settings_is_refused(tmp_path):
    facts = {"step": 8, "epoch": 0, "step_in_epoch": 8, "end": False, "same": {"batch": 64}}
    write(tmp_path, Position(8, 0).name, {}, {**facts, "stopped": False, "epochs": 9})
    assert Checkpoint(tmp_path, same={"batch": 64, "new": 1}).position(9).step == 8
    with pytest.raises(UsageError, match="is of a run with batch 64, and 32 was given: give batch"):
        Checkpoint(tmp_path, same={"batch": 32}).position(9)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"checkpoints cannot be written to .*: give a"):
        Checkpoint(tmp_path / "file" / "folder").position(1)


def test_never_begins_afresh_and_loses_nothing(tmp_path, capsys):
    fill(tmp_path, 1)
    assert Checkpoint(tmp_path, resume="never").position(9) is None
    assert f"the checkpoints there were are in {tmp_path / 'earlier-1'}" in capsys.readouterr().err
    assert len(positions(tmp_path / "earlier-1")) == 1


def test_a_model_that_tfdist_does_not_train_is_refused(tmp_path):
    plain = keras.Sequential([keras.layers.Dense(1)])
    plain.compile("sgd", "mse")
    with pytest.raises(UsageError, match=r"call tfdist.distribute\(model\) first"):
        plain.fit(np.ones((1, 1)), np.ones(1), verbose=0, callbacks=[Checkpoint(tmp_path)])


def test_a_full_disk_ends_training_and_names_the_last_whole_one(tmp_path, monkeypatch):
    import tfdist.checkpoint.content as content

    def full(folder, name, *rest):
        if Position(7, 1).name != name:
            raise OSError(28, "No space left on device")
        write(folder, name, *rest)

    monkeypatch.setattr(content, "write", full)
    said = (
        r"-00002 could not be written \(No space left on device\); the last whole one is .*-00001:"
    )
    with pytest.raises(UsageError, match=said):
        model(momentum()).fit(data(), epochs=3, verbose=0, callbacks=[Checkpoint(tmp_path)])
    assert [each.step for each in positions(tmp_path)] == [7]


def test_an_error_gives_signals_back(tmp_path):
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        callbacks = [Checkpoint(tmp_path), Stop((1, 3))]
        with pytest.raises(StopError):
            model(momentum()).fit(data(), epochs=3, verbose=0, callbacks=callbacks)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_time_and_the_best_epoch(tmp_path):
    saves = Checkpoint(tmp_path, every_minutes=1e-9, keep=1, keep_best="loss")
    fit = model(momentum()).fit(data(), epochs=2, verbose=0, callbacks=[saves])
    assert len(saves.seconds) > 2
    best = 1 + fit.history["loss"].index(min(fit.history["loss"]))
    assert (7 * best, best) in {(each.step, each.epoch) for each in positions(tmp_path)}


def test_a_folder_that_is_deleted_under_way(tmp_path):
    class Delete(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                shutil.rmtree(tmp_path / "saved")

    saves = Checkpoint(tmp_path / "saved")
    model(momentum()).fit(data(), epochs=3, verbose=0, callbacks=[Delete(), saves])
    assert [each.step for each in positions(tmp_path / "saved")] == [21, 21]
    assert Checkpoint(tmp_path / "saved").position(3).end


def test_an_error_in_a_callback_names_the_last_whole_checkpoint(tmp_path, capsys):
    class Broken(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            assert epoch < 2, "mine"

    for beside in (False, True):
        folder = tmp_path / str(beside)
        saves = Checkpoint(folder, beside=beside)
        with pytest.raises(AssertionError, match="mine"):
            model(momentum()).fit(data(), epochs=3, verbose=0, callbacks=[Broken(), saves])
        last = positions(folder)[-1]
        assert last.step == 14 or beside  # a save may be left out before the last is written
        said = f"tfdist: training failed; the last whole checkpoint is {folder / last.name}\n"
        assert capsys.readouterr().err.endswith(said)
