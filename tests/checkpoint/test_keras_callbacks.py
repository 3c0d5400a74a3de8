"""What Keras' callbacks do and write, in a run that was stopped and started again."""

from pathlib import Path

import keras
import pytest
from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

from tests.checkpoint import small
from tests.conformance.strategies import STRATEGIES

KERAS = keras.callbacks


def text(folder):
    return (folder / "log.csv").read_text()


def weights(folder):
    return [
        array.tobytes() for array in keras.models.load_model(folder / "best.keras").get_weights()
    ]


def points(folder):
    """The points of all curves, by name and step; one that is written twice counts once."""
    found = {}
    for file in sorted(folder.glob("**/events*")):
        for event in LegacyEventFileLoader(str(file)).Load():
            for value in event.summary.value:
                if value.tag.startswith(("epoch_", "evaluation_")) and "steps_per" not in value.tag:
                    found[file.parent.name, value.tag, event.step] = value.tensor.tensor_content
    return found


def nothing(folder):
    return None


CASES = {
    "EarlyStopping": (lambda f: KERAS.EarlyStopping("loss", min_delta=9, patience=2), nothing),
    "ReduceLROnPlateau": (
        lambda f: KERAS.ReduceLROnPlateau("loss", min_delta=9, patience=2, cooldown=1),
        nothing,
    ),
    "LearningRateScheduler": (
        lambda f: KERAS.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
        nothing,
    ),
    "SwapEMAWeights": (lambda f: KERAS.SwapEMAWeights(swap_on_epoch=True), nothing),
    "ModelCheckpoint": (
        lambda f: KERAS.ModelCheckpoint(f / "best.keras", monitor="val_loss", save_best_only=True),
        weights,
    ),
    "BackupAndRestore": (lambda f: KERAS.BackupAndRestore(f / "backup"), nothing),
    "CSVLogger": (lambda f: KERAS.CSVLogger(f / "log.csv"), text),
    "CSVLogger, append": (lambda f: KERAS.CSVLogger(f / "log.csv", append=True), text),
    "TensorBoard": (lambda f: KERAS.TensorBoard(f), points),
}


@pytest.mark.parametrize("name", CASES)
def test_as_if_never_stopped(name, tmp_path, monkeypatch):
    make, look = CASES[name]
    strategy = STRATEGIES["one_device"].make()
    folders = [tmp_path / "undisturbed", tmp_path / "stopped"]

    def train(where: Path, **words):
        where.mkdir(exist_ok=True)
        told = lambda: [make(where), small.Count()]  # noqa: E731
        monkeypatch.setattr(small, "callbacks", told)
        optimizer = averaging if name == "SwapEMAWeights" else small.momentum
        return small.train(strategy, optimizer, dropout=0, epochs=4, **words)

    expected = train(folders[0])
    # After the second checkpoint, so that what came after it is done again.
    assert train(folders[1], folder=tmp_path / "saved", stop=(2, 3), every_epochs=1) is None
    found = train(folders[1], folder=tmp_path / "saved", every_epochs=1)
    assert small.differences(expected, found) == []
    assert look(folders[0]) == look(folders[1])


def averaging():
    return keras.optimizers.SGD(0.05, use_ema=True, ema_momentum=0.9)
