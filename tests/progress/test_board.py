"""What TensorBoard finds in the folder."""

import importlib.util

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.util.tensor_util import make_ndarray

from tests.progress.small import fit
from tfdist import Board, Checkpoint, Trace
from tfdist.errors import UsageError
from tfdist.progress import needs, steps


def tops_of_graph(folder):
    """The outermost names of the one graph that was written, and what is in them."""
    files = folder.glob("events.out.tfevents.*")
    events = [event for file in files for event in EventFileLoader(str(file)).Load()]
    (graph,) = [event.graph_def for event in events if event.WhichOneof("what") == "graph_def"]
    tops = {}
    for node in GraphDef.FromString(graph).node:
        tops.setdefault(node.name.partition("/")[0], set()).add(node.op)
    return tops


def curves(folder):
    """Each curve as its (step, value) pairs, and each text."""
    found = EventAccumulator(str(folder), size_guidance={"tensors": 0}).Reload()
    values = {}
    for tag in found.Tags()["tensors"]:
        values[tag] = [(e.step, make_ndarray(e.tensor_proto).item()) for e in found.Tensors(tag)]
    return values


def test_curves_texts_and_saves(tmp_path):
    board = Board(tmp_path, every_steps=5, graph=True)
    board.text("flags", {"epochs": 2})
    _, history = fit(board, Checkpoint(tmp_path / "kept"))
    board.text("run record", {"loss": 0.5})
    found = curves(tmp_path / "alone")
    tops = tops_of_graph(tmp_path / "alone")
    assert "while" not in tops  # the loop around the step
    assert "MatMul" in tops["replica_1"] & tops["gradient_tape"]
    assert [step for step, _ in found["train/loss"]] == [5, 10, 15, 20]
    for tag, name in (("epoch/loss", "loss"), ("validation/mae", "val_mae")):
        assert found[tag] == [
            (10, pytest.approx(history[name][0])),
            (20, pytest.approx(history[name][1])),
        ]
    assert [value for _, value in found["learning_rate"]] == pytest.approx([0.01] * 6)
    assert all(value > 0 for _, value in found["speed/examples_per_second"])
    for (_, waits), (_, works) in zip(
        found["share/input"], found["share/computing_and_exchange"], strict=True
    ):
        assert waits + works == pytest.approx(1)
    assert found["memory/process_gib"][0][1] > 0.1
    assert [step for step, _ in found["checkpoint/save_seconds"]] == [15, 20]
    assert b"| epochs | 2 |" in found["flags"][0][1]
    assert b"| loss | 0.5 |" in found["run record"][0][1]


def test_a_trace_of_some_steps(tmp_path):
    fit(Trace(tmp_path, 5, 8), epochs=1, validation=False)
    traces = list((tmp_path / "alone" / "plugins" / "profile").rglob("*.xplane.pb"))
    assert len(traces) == 1
    assert traces[0].stat().st_size > 1000


def test_a_missing_package_is_told_before_training(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(needs, "find_spec", lambda n: None if n == "tensorboard" else find(n))
    said = r"log_dir needs tensorboard, .*: pip install 'tfdist\[tensorboard\]'"
    with pytest.raises(UsageError, match=said):
        Board(tmp_path)


@pytest.mark.parametrize("text", ["10", "20:10", "a:b", "5:5", "1:2:3"])
def test_steps_that_are_none(text):
    with pytest.raises(UsageError, match=f"--profile_steps is '{text}': give the first step"):
        steps.parse("--profile_steps", text)


def test_steps():
    assert steps.parse("x", "10:20") == (10, 20)
