"""A checkpoint that is not whole is skipped; when none is, nothing begins afresh by itself."""

import pytest

from tests.checkpoint.small import differences, momentum, train
from tests.conformance.strategies import STRATEGIES
from tfdist.checkpoint.folder import newest, positions
from tfdist.checkpoint.position import Position
from tfdist.checkpoint.storage import write
from tfdist.errors import UsageError

FILES = ("state.npz", "callbacks.json", "manifest.json")


def empty(path):
    path.write_bytes(b"")


def truncate(path):
    path.write_bytes(path.read_bytes()[:-3])


def flip(path, at=0.5):
    content = bytearray(path.read_bytes())
    content[int(len(content) * at)] ^= 1
    path.write_bytes(bytes(content))


def remove(path):
    path.unlink()


def fill(folder, *steps):
    for step in steps:
        files = {name: lambda file, n=name: file.write(n.encode() * 9) for name in FILES[:2]}
        facts = {"step": step, "stopped": False, "epochs": 9, "logs": {"loss": 1.0}}
        write(folder, Position(step, 0).name, files, facts)


@pytest.mark.parametrize("damage", [empty, truncate, flip, remove])
@pytest.mark.parametrize("file", FILES)
def test_the_one_before_is_used(file, damage, tmp_path):
    fill(tmp_path, 1, 2)
    path = tmp_path / Position(2, 0).name / file
    damage(path)
    said = []
    manifest, damaged = newest(tmp_path, 9, said.append)
    assert manifest["step"] == 1
    assert damaged == [path.parent.name]
    assert len(said) == 1
    assert f"{path.parent} is damaged ({file}" in said[0]
    assert said[0].endswith("it is skipped")


def test_every_bit_counts(tmp_path):
    fill(tmp_path, 1, 2)
    manifest = tmp_path / Position(2, 0).name / "manifest.json"
    whole = manifest.read_bytes()
    for index in range(len(whole)):
        manifest.write_bytes(whole[:index] + bytes([whole[index] ^ 4]) + whole[index + 1 :])
        assert newest(tmp_path, 9, lambda said: None)[0]["step"] == 1


def test_none_is_whole(tmp_path):
    fill(tmp_path, 1, 2)
    for path in tmp_path.glob("*/state.npz"):
        flip(path)
    with pytest.raises(UsageError, match=r"none of the 2 checkpoints in .* is whole: bring back"):
        newest(tmp_path, 9, lambda said: None)


def test_training_goes_on_from_the_one_before(tmp_path, capsys):
    strategy = STRATEGIES["one_device"].make()
    undisturbed = train(strategy, momentum)
    train(strategy, momentum, tmp_path, stop=(1, 6), every_steps=3)
    newer, older = positions(tmp_path)[-1], positions(tmp_path)[-2]
    flip(tmp_path / newer.name / "state.npz")
    resumed = train(strategy, momentum, tmp_path, every_steps=3)
    said = capsys.readouterr().err
    assert f"{newer.name} is damaged (state.npz is not as it was written): it is skipped" in said
    assert f"goes on after step {older.step} " in said
    assert differences(undisturbed, resumed) == []
