"""Which checkpoints are kept."""

import os

import pytest

from tests.checkpoint.test_damage import fill
from tfdist.checkpoint.folder import clear, newest, positions, prune, set_aside
from tfdist.checkpoint.position import Position, parse
from tfdist.checkpoint.storage import write


def steps(folder):
    return [each.step for each in positions(folder)]


def scored(folder, *losses):
    for step, loss in enumerate(losses):
        facts = {"step": step, "stopped": False, "epochs": 9, "logs": {"val_loss": loss}}
        write(folder, Position(step, 0).name, {}, facts)


def test_names_sort_as_their_positions():
    places = [Position(7, 0), Position(7, 1), Position(7, 1, end=True), Position(10**9, 2)]
    assert [parse(each.name) for each in places] == sorted(places) == places
    assert parse("step-1") is parse(".step-000000007-epoch-00000.12") is None


def test_the_last_ones_are_kept(tmp_path):
    fill(tmp_path, *range(5))
    prune(tmp_path, 2, None, [])
    assert steps(tmp_path) == [3, 4]
    assert len(list(tmp_path.iterdir())) == 2


def test_the_best_is_kept_too(tmp_path):
    scored(tmp_path, 3.0, 1.0, float("nan"), 2.0, 5.0)
    prune(tmp_path, 1, "val_loss", [])
    assert steps(tmp_path) == [1, 4]


def test_more_accuracy_is_better(tmp_path):
    for step, accuracy in enumerate((0.5, 0.9, 0.7)):
        facts = {"logs": {"val_accuracy": accuracy}}
        write(tmp_path, Position(step, 0).name, {}, facts)
    prune(tmp_path, 1, "val_accuracy", [])
    assert steps(tmp_path) == [1, 2]


def test_a_damaged_one_takes_no_place(tmp_path):
    fill(tmp_path, 1, 2, 3)
    prune(tmp_path, 2, None, [Position(2, 0).name])
    assert steps(tmp_path) == [1, 3]


def test_what_a_killed_process_left_is_cleared(tmp_path):
    fill(tmp_path, 1)
    (tmp_path / ".step-000000002-epoch-00000.77").mkdir()
    clear(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [Position(1, 0).name]


def test_those_there_are_can_be_set_aside(tmp_path):
    assert set_aside(tmp_path) is None
    fill(tmp_path, 1)
    assert set_aside(tmp_path) == tmp_path / "earlier-1"
    fill(tmp_path, 2)
    assert set_aside(tmp_path) == tmp_path / "earlier-2"
    assert steps(tmp_path) == []
    assert steps(tmp_path / "earlier-1") == [1]


def test_an_end_counts_unless_more_epochs_are_wanted(tmp_path):
    fill(tmp_path, 1)
    facts = {"step": 1, "stopped": False, "epochs": 3, "end": True}
    write(tmp_path, Position(1, 0, end=True).name, {}, facts)
    assert "end" in newest(tmp_path, 3, print)[0]
    assert "end" in newest(tmp_path, 2, print)[0]
    assert "end" not in newest(tmp_path, 4, print)[0]


def test_a_failed_write_leaves_nothing_and_harms_nothing(tmp_path):
    fill(tmp_path, 1)

    def full(file):
        file.write(b"half")
        raise OSError(28, os.strerror(28))

    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, Position(2, 0).name, {"state.npz": full}, {})
    assert [path.name for path in tmp_path.iterdir()] == [Position(1, 0).name]


def test_no_folder_is_no_checkpoint(tmp_path):
    assert newest(tmp_path / "none", 1, print) == (None, [])
