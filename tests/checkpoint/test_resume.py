"""Stopped and started again equals never stopped, bit for bit."""

import shutil

import pytest

from tests.checkpoint.small import STOP, adam, differences, momentum, train
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
