"""A task beside the training sees each checkpoint once, and the end."""

import json
import math
import subprocess
import threading

import keras
import numpy as np
import pytest

from tests.checkpoint.test_damage import flip
from tests.launch.launching import environment, words
from tests.progress.test_board import curves
from tfdist.checkpoint import content
from tfdist.checkpoint.folder import better, positions
from tfdist.checkpoint.following import follow
from tfdist.checkpoint.position import Position, parse
from tfdist.checkpoint.storage import remove, verify, write
from tfdist.errors import StartAgainError

TRAIN = ("-m", "tfdist.train", "--dataset=digits", "--global_batch_size=64", "--epochs=4")


def fill(folder, step, end=False, stopped=False, epochs=9):
    files = {
        "state.npz": lambda file: np.savez(file),
        "callbacks.json": lambda file: file.write(b"{}"),
    }
    where = {"step": step, "epoch": 0, "end": end, "step_in_epoch": 0, "variables": []}
    write(
        folder, Position(step, 0, end).name, files, where | {"stopped": stopped, "epochs": epochs}
    )


def steps(folder, epochs=9, known=(), said=None, **words):
    told = [] if said is None else said
    return [each.position.step for each in follow(folder, epochs, known, told.append, **words)]


def test_all_are_seen_until_the_end(tmp_path):
    folder, said = tmp_path / "later", []
    late = threading.Timer(0.7, lambda: [fill(folder, 3), fill(folder, 8), fill(folder, 9, True)])
    late.start()
    assert steps(folder, said=said) == [3, 8, 9]
    assert said == []
    assert steps(folder, known={Position(3, 0).name, Position(9, 0, True).name}) == [8]
    late.join()


def test_a_damaged_one_is_told_and_one_that_was_removed_is_not(tmp_path):
    for step in (1, 2, 3):
        fill(tmp_path, step)
    fill(tmp_path, 4, end=True)
    flip(tmp_path / Position(1, 0).name / "state.npz")
    said, seen = [], []
    for found in follow(tmp_path, 9, (), said.append):
        seen.append(found.position.step)
        remove(tmp_path / Position(3, 0).name)
    assert seen == [2, 4]
    assert len(said) == 1
    assert "step-000000001-epoch-00000 is damaged (state.npz is not as it was" in said[0]


@pytest.mark.parametrize(("stopped", "last"), [(False, False), (True, True)])
def test_the_end_of_a_shorter_run_is_one_when_it_was_stopped(stopped, last, tmp_path):
    fill(tmp_path, 4, end=True, stopped=stopped, epochs=3)
    if last:
        assert steps(tmp_path, epochs=5) == [4]
    else:
        with pytest.raises(StartAgainError, match=r"no new checkpoint came to .* within 0.1 s"):
            steps(tmp_path, epochs=5, most_seconds=0.1)


def test_better():
    assert better("val_loss", 1.0, 2.0)
    assert better("val_accuracy", 2.0, 1.0)
    assert better("val_loss", 1.0, math.nan)
    assert not better("val_loss", math.nan, 1.0)


def test_an_evaluator_beside_two_workers(tmp_path):
    saved, exported = tmp_path / "saved", tmp_path / "exported"
    folders = (f"--checkpoint_dir={saved}", f"--export_dir={exported}", "--keep=9")
    folders = (*folders, f"--log_dir={tmp_path / 'logs'}")
    command = [*words("", "--workers=2", "--evaluator")[:-2], *TRAIN, *folders]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=150, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((saved / "evaluations.json").read_text())
    assert list(found) == [each.name for each in positions(saved)]
    manifests = {name: verify(saved / name) for name in found}
    for name, values in found.items():
        logged = manifests[name]["logs"]
        assert values == pytest.approx({k: logged[k] for k in values}, rel=1e-5)
    assert curves(tmp_path / "logs" / "evaluator-0")["validation/loss"] == [
        (parse(name).step, pytest.approx(values["val_loss"], rel=1e-6))
        for name, values in found.items()
    ]
    last = [line for line in done.stdout.splitlines() if line.startswith("[evaluator 0] {")]
    record = json.loads(last[0].removeprefix("[evaluator 0] "))
    best = min(found, key=lambda name: found[name]["val_loss"])
    assert record["val_loss"] == found[best]["val_loss"]
    values = content.read(saved / best, manifests[best]).values
    weights = [each.array for each in values if each.kind == "weight"]
    served = keras.models.load_model(exported / "best" / "model.keras").get_weights()
    for left, right in zip(weights, served, strict=True):
        np.testing.assert_array_equal(left, right)
