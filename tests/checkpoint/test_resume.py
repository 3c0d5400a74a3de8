"""Stopped and started again equals never stopped, bit for bit."""

import shutil
from types import SimpleNamespace

import pytest

from tests.checkpoint import small
from tests.checkpoint.small import STOP, Stop, adam, differences, momentum, train
from tests.conformance.strategies import STRATEGIES
from tfdist.checkpoint.folder import positions


@pytest.fixture(scope="module")
def strategies():
    return {name: STRATEGIES[name].make() for name in ("one_device", "mirrored", "central_storage")}


@pytest.mark.parametrize(
    ("name", "optimizer"),
    [
        ("one_device", adam),
        ("one_device", momentum),
        ("mirrored", adam),
        ("central_storage", momentum),
    ],
)
def test_stopped_and_started_again_equals_never_stopped(name, optimizer, strategies, tmp_path):
    undisturbed = train(strategies[name], optimizer)
    assert train(strategies[name], optimizer, tmp_path, stop=STOP, every_steps=3) is None
    stopped_at = [str(each) for each in positions(tmp_path)]
    resumed = train(strategies[name], optimizer, tmp_path, every_steps=3)
    assert stopped_at[-1].startswith("step 9 ")
    assert differences(undisturbed, resumed) == []


def test_between_epochs_ended_and_for_more_epochs(strategies, tmp_path, capsys):
    strategy = strategies["one_device"]
    undisturbed, longer = train(strategy), train(strategy, epochs=4)
    train(strategy, folder=tmp_path, stop=STOP)
    saved = train(strategy, folder=tmp_path)
    assert "goes on after step 7 (step 0 of epoch 2)" in capsys.readouterr().err
    assert differences(undisturbed, saved) == []
    before = sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir())
    again = train(strategy, folder=tmp_path)
    assert "training had ended" in capsys.readouterr().err
    assert differences(undisturbed, again) == []
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.iterdir()) == before
    # The weights at the end are averages: more epochs go on from those before.
    assert differences(longer, train(strategy, folder=tmp_path, epochs=4)) == []


def test_another_strategy_goes_on_to_rounding(strategies, tmp_path):
    train(strategies["mirrored"], momentum, tmp_path / "two", stop=STOP, dropout=0, every_steps=3)
    shutil.copytree(tmp_path / "two", tmp_path / "central")
    undisturbed = train(strategies["one_device"], momentum, dropout=0)
    for name, folder in (("one_device", "two"), ("central_storage", "central")):
        resumed = train(strategies[name], momentum, tmp_path / folder, dropout=0, every_steps=3)
        assert differences(undisturbed, resumed, 1e-5) == []


class AskedInEvaluation(Stop):
    """A signal that comes in the middle of an evaluation."""

    watch = SimpleNamespace(asked=None, start=lambda: None, stop=lambda: None)

    def on_train_batch_end(self, batch, logs=None):
        pass

    def on_test_batch_end(self, batch, logs=None):
        if (self.epoch, batch) == self.at:
            self.watch.asked = "SIGTERM"


def test_asked_to_end_in_an_evaluation(strategies, tmp_path, monkeypatch, capsys):
    strategy = strategies["one_device"]
    undisturbed = train(strategy, momentum)
    with monkeypatch.context() as patch:
        patch.setattr(small, "Stop", AskedInEvaluation)
        patch.setattr("tfdist.checkpoint.callback.Watch", lambda grace: AskedInEvaluation.watch)
        with pytest.raises(SystemExit, match="75"):
            train(strategy, momentum, tmp_path, stop=STOP)
    resumed = train(strategy, momentum, tmp_path)
    assert "goes on after step 14 (step 7 of epoch 2)" in capsys.readouterr().err
    assert differences(undisturbed, resumed) == []
