"""Pictures: what they are made from, and what is in them."""

import json

import pytest
from matplotlib.figure import Figure

from tfdist import plot
from tfdist.errors import UsageError
from tfdist.plotting import draw, runs

EPOCHS = [
    {"event": "start", "text": "tfdist"},
    {"event": "step", "step": 5, "loss": 9.0},
    {"event": "epoch", "step": 10, "epoch": 1, "input_share": 0.1, "loss": 2.0, "val_loss": 2.5},
    {"event": "epoch", "step": 20, "epoch": 2, "input_share": 0.1, "loss": 1.0, "val_loss": None},
]


def record(strategy, replicas, speed):
    return {
        "weights_digest": "d", "strategy": strategy, "replicas": replicas,
        "examples_per_second": speed,
    }  # fmt: skip


def output(folder, name, *lines, prefix=""):
    file = folder / name
    file.write_text("Epoch 1\n" + "".join(f"{prefix}{json.dumps(line)}\n" for line in lines))
    return str(file)


@pytest.mark.parametrize("prefix", ["", "[worker 0] "])
def test_a_run_is_read_from_its_output(tmp_path, prefix):
    file = output(tmp_path, "a.log", *EPOCHS, record("mirrored", 2, 10.0), prefix=prefix)
    run = runs.read(file)
    assert run.curves == {"loss": [(10, 2.0), (20, 1.0)], "val_loss": [(10, 2.5)]}
    assert (run.name, run.record["replicas"]) == ("a", 2)


def test_what_is_no_run(tmp_path):
    (tmp_path / "empty").write_text("hello\n")
    with pytest.raises(UsageError, match=r"empty' holds no run: give the --log_dir of a run"):
        runs.read(str(tmp_path / "empty"))
    with pytest.raises(UsageError, match="'nowhere' is not there"):
        runs.read("nowhere")


def test_curves_have_marks_and_strokes_of_their_own(tmp_path):
    found = [runs.read(output(tmp_path, name, *EPOCHS)) for name in ("a", "b")]
    figure = draw.curves(found)
    assert isinstance(figure, Figure)
    lines = figure.axes[0].get_lines()
    drawn = {line.get_label(): list(line.get_ydata()) for line in lines}
    assert drawn["a"] == [2.0, 1.0]
    assert drawn["b, validation"] == [2.5]
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == len(lines) == 4


def test_scaling_is_drawn_beside_the_ideal(tmp_path):
    speeds = {1: 100.0, 2: 180.0, 4: 300.0}
    found = [runs.Run(str(n), record=record("multi_worker", n, s)) for n, s in speeds.items()]
    ours, ideal = draw.scaling(found).axes[0].get_lines()
    assert list(ours.get_ydata()) == [100.0, 180.0, 300.0]
    assert list(ideal.get_ydata()) == [100.0, 400.0]
    with pytest.raises(UsageError, match="--scaling needs the records of two runs"):
        draw.scaling(found[:1])


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_door(tmp_path, capsys, kind):
    out = tmp_path / f"x.{kind}"
    assert plot.main([output(tmp_path, "a", *EPOCHS), f"--out={out}"]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert out.stat().st_size > 5_000
    assert plot.main([output(tmp_path, "a", *EPOCHS), "--out=x.doc"]) == 2
    assert capsys.readouterr().err.startswith("--out is 'x.doc': give a name that ends in .png")
