"""Checkpoints on a file system of TensorFlow's own, which keeps no folder when it is renamed."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoint.small import STOP, differences, momentum, train
from tests.checkpoint.test_damage import fill
from tests.conformance.strategies import STRATEGIES
from tfdist import Checkpoint
from tfdist.checkpoint.exporting import check, export
from tfdist.checkpoint.folder import clear, newest, positions, prune, set_aside
from tfdist.checkpoint.places import Remote, place, remove_folder
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.storage import MANIFEST, write
from tfdist.errors import UsageError


@pytest.fixture
def folder(request):
    found = place(f"ram://{request.node.name}/run")
    found.mkdir()
    yield found
    remove_folder(found)


def steps(folder):
    return [each.step for each in positions(folder)]


def test_which_paths_are_of_another_file_system(tmp_path):
    assert place("gs://bucket/run/") == Remote("gs://bucket/run")
    assert place(tmp_path / "x" / "..") == tmp_path


def test_trained_stopped_and_started_again(folder, capsys):
    strategy = STRATEGIES["one_device"].make()
    undisturbed = train(strategy, momentum)
    train(strategy, momentum, str(folder), stop=STOP, every_steps=3)
    assert steps(folder) == [3, 6, 9]
    flip_last(folder)
    resumed = train(strategy, momentum, str(folder), every_steps=3)
    said = capsys.readouterr().err
    assert f"goes on after step 6 (step 6 of epoch 1): {folder}/step-000000006-" in said
    assert "is damaged (state.npz is not as it was written): it is skipped" in said
    assert differences(undisturbed, resumed) == []


def flip_last(folder):
    file = folder / positions(folder)[-1].name / "state.npz"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    with file.open("wb") as opened:
        opened.write(content)


def test_what_was_not_written_to_its_end_is_not_there(folder):
    def broken(file):
        raise OSError(28, "No space left on device")

    fill(folder, 1, 2)
    with pytest.raises(OSError, match="No space"):
        write(folder, Position(3, 0).name, {"state.npz": broken}, {})
    (folder / Position(4, 0).name).mkdir()
    (folder / Position(4, 0).name / "state.npz").write_text("x")
    assert steps(folder) == [1, 2]
    assert newest(folder, 9, pytest.fail)[0]["step"] == 2
    clear(folder)
    assert not (folder / Position(4, 0).name).exists()
    prune(folder, 1, None, [])
    assert steps(folder) == [2]


def test_put_aside(folder):
    fill(folder, 1)
    aside = set_aside(folder)
    assert (steps(folder), steps(aside)) == ([], [1])
    assert (aside / Position(1, 0).name / MANIFEST).exists()


def test_a_file_system_that_is_not_there():
    with pytest.raises(UsageError, match=r"cannot be written to none://x .*'none' not implemented"):
        Checkpoint("none://x").position(1)


def test_export(folder):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    check(model, str(folder))
    for _ in range(2):
        export(model, str(folder))
    served = tf.saved_model.load(f"{folder}/final/saved_model")
    rows = np.ones((3, 2), "float32")
    np.testing.assert_allclose(served.serve(rows), model(rows), rtol=1e-6)
