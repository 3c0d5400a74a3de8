"""A save beside the training: it goes on meanwhile, and what is saved is the moment of the save."""

import shutil
import subprocess
import threading

import keras
import numpy as np
import pytest

import tfdist.checkpoint.content as content
from tests.checkpoint.small import data, model, momentum
from tfdist import Checkpoint
from tfdist.checkpoint.folder import positions
from tfdist.checkpoint.storage import verify, write
from tfdist.errors import UsageError


class Opens(keras.callbacks.Callback):
    """Lets the disk go on once training has done so many steps."""

    def __init__(self, step):
        super().__init__()
        self.step, self.door, self.waited = step, threading.Event(), []

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.step:
            self.door.set()

    def write(self, *words):
        self.waited.append(self.door.wait(20))
        write(*words)


def fit(folder, monkeypatch, opens, **saves):
    keras.utils.clear_session()
    keras.utils.set_random_seed(1)
    monkeypatch.setattr(content, "write", opens.write)
    kept = Checkpoint(folder, every_steps=3, keep=9, **saves)
    model(momentum()).fit(data(), epochs=1, verbose=2, callbacks=[opens, kept])
    return kept


def test_training_goes_on_while_it_is_written(tmp_path, monkeypatch, capsys):
    opens = Opens(6)
    kept = fit(tmp_path / "beside", monkeypatch, opens, beside=True)
    assert all(opens.waited)  # none was waited for in vain: steps 4 to 6 came during the save
    account = kept.writer.account()
    assert account["saves"] == len(kept.seconds) >= 3
    assert account["save_still_seconds"] < account["save_seconds"]
    assert " s, training stood still for 0." in capsys.readouterr().err
    opens.door.set()
    fit(tmp_path / "in turn", monkeypatch, opens)
    assert "stood still" not in capsys.readouterr().err
    assert [each.step for each in positions(tmp_path / "in turn")] == [3, 6, 7, 7]
    for each in positions(tmp_path / "beside"):
        one, other = (tmp_path / name / each.name for name in ("in turn", "beside"))
        pairs = zip(*(content.read(p, verify(p)).values for p in (one, other)), strict=True)
        assert all(np.array_equal(a.array, b.array) for a, b in pairs)


def test_training_does_not_wait_for_a_slow_disk(tmp_path, monkeypatch, capsys):
    opens = Opens(7)  # the save that is due after step 6 would wait for ever
    fit(tmp_path, monkeypatch, opens, beside=True)
    assert all(opens.waited)
    said = "not saved after step 6 (step 6 of epoch 1): the save before is not yet written"
    assert said in capsys.readouterr().err
    assert [each.step for each in positions(tmp_path)] == [3, 7, 7]


def test_what_fails_beside_the_training_ends_it(tmp_path, monkeypatch):
    def full(folder, name, *rest):
        if "step-000000006" in name:
            raise OSError(28, "No space left on device")
        write(folder, name, *rest)

    opens = Opens(1)
    opens.write = full
    said = r"step-000000006-.* \(No space left on device\); the last whole one is .*-000000003-"
    with pytest.raises(UsageError, match=said):
        fit(tmp_path, monkeypatch, opens, beside=True, keep_best="loss")
    assert [each.step for each in positions(tmp_path)] == [3]


class After(keras.callbacks.Callback):
    """Does something to the folder after the first of three epochs."""

    def __init__(self, does):
        super().__init__()
        self.does = does

    def on_epoch_end(self, epoch, logs=None):
        if epoch == 1:
            self.does()


def fit_and(does, folder, **saves):
    kept = Checkpoint(folder, every_steps=5, **saves)
    net = model(momentum())
    net.fit(data(), epochs=3, verbose=1, callbacks=[After(does), kept])
    return kept


@pytest.mark.parametrize("beside", [False, True])
def test_a_folder_that_becomes_read_only_ends_it_with_the_last_whole_one(beside, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], check=True, timeout=20)
    try:
        locks = ["mount", "-o", "remount,ro", disk]
        said = r"step-000000014-.* \(Read-only file system\); the last whole one is .*-000000010-"

        def lock():
            subprocess.run(locks, check=True, timeout=20)

        with pytest.raises(UsageError, match=said):
            fit_and(lock, disk / "saved", keep_best="loss", every_epochs=1, beside=beside)
        assert verify(disk / "saved" / positions(disk / "saved")[-1].name)["step"] == 10
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True, timeout=20)


def test_a_folder_removed_under_way_is_made_anew_and_told_of(tmp_path, capsys):
    folder = tmp_path / "saved"
    kept = fit_and(lambda: shutil.rmtree(folder), folder)
    assert f"{folder} was removed, with the checkpoints in it" in capsys.readouterr().err
    assert positions(folder)[-1].end
    assert all(verify(folder / each.name) for each in positions(folder))
    shutil.rmtree(folder / kept.writer.whole.name)
    assert kept.writer.whole == folder / positions(folder)[-1].name
    shutil.rmtree(folder)
    assert kept.writer.whole is None  # what is not there is not named
