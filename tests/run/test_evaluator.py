"""What an evaluator remembers of the checkpoints, pure."""

import json

import pytest

from tfdist.checkpoint.places import place
from tfdist.checkpoint.position import Position
from tfdist.errors import UsageError
from tfdist.run.evaluator import Memory
from tfdist.run.record import as_line
from tfdist.run.settings import Settings

NAN = float("nan")


def memory(folder, **given):
    return Memory(place(folder), Settings(global_batch_size=1, **given))


def note(kept, *losses):
    return [
        kept.note(Position(step, 0), {"val_loss": loss, "val_accuracy": -loss})
        for step, loss in enumerate(losses, 1 + len(kept.values))
    ]


def test_the_best_so_far(tmp_path, capsys):
    kept = memory(tmp_path)
    assert note(kept, 3.0, 2.0, 2.5, NAN, 1.0) == [True, True, False, False, True]
    assert kept.best == {"checkpoint": Position(5, 0).name, "val_loss": 1.0, "val_accuracy": -1.0}
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "evaluated after step 1 (step 0 of epoch 1): val_loss 3, val_accuracy -3"


def test_a_restart_goes_on(tmp_path):
    note(memory(tmp_path), 3.0, 2.0)
    again = memory(tmp_path)
    assert again.known == {Position(1, 0).name, Position(2, 0).name}
    assert note(again, 2.5) == [False]
    assert json.loads((tmp_path / "evaluations.json").read_text()) == again.values
    afresh = memory(tmp_path, resume="never", checkpoint_dir=str(tmp_path))
    assert (afresh.known, afresh.values) == (set(), {})


def test_a_loss_that_is_no_number_can_be_shown(tmp_path):
    kept = memory(tmp_path)
    note(kept, NAN)
    assert json.loads(as_line(kept.best))["val_loss"] is None


def test_by_a_metric_of_the_user_s(tmp_path):
    kept = memory(tmp_path, keep_best="val_accuracy", checkpoint_dir=str(tmp_path))
    assert note(kept, 2.0, 3.0) == [True, False]
    with pytest.raises(UsageError, match="--keep_best is 'val_auc', and evaluation gives val_loss"):
        note(memory(tmp_path, keep_best="val_auc", checkpoint_dir=str(tmp_path)), 1.0)
