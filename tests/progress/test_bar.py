"""What the bar says, and when it is drawn."""

import io
import sys

from tests.progress.small import fit
from tfdist.progress.bar import ASKED, MARK, Bar, as_bar, as_epoch, is_wanted
from tfdist.progress.look import Look

HALF = Look(
    *(90, 2, 3, 10, 40), {"loss": 0.25}, steps_per_second=0.01, examples_per_second=12_345.6
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_of_the_whole_run():
    assert as_bar(HALF) == (
        "[########............]  42%  epoch 2/3  step 10/40  12,346 examples/s  1:56:40 left  "
        "loss 0.25"
    )
    assert as_epoch(HALF) == "epoch 2/3  12,346 examples/s  loss 0.25"


def test_without_a_known_length_it_has_no_end():
    assert as_bar(Look(7, 1, 2, 7, None, steps_per_second=3.0)) == "epoch 1/2  step 7  3.0 steps/s"


def test_on_a_terminal_it_is_one_line_that_leaves_one_an_epoch(monkeypatch):
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    assert is_wanted()
    fit(Bar())
    shown = terminal.getvalue()
    assert "\r[" in shown
    assert "%  epoch 2/2  step " in shown
    kept = [line.split("\x1b[K")[-1] for line in shown.split("\n")]
    assert [line[:9] for line in kept] == ["epoch 1/2", "epoch 2/2", ""]
    assert "val_loss" in kept[0]


def test_for_a_launcher_each_bar_is_a_line_with_a_mark(monkeypatch, capsys):
    monkeypatch.delenv(ASKED, raising=False)
    assert not is_wanted()
    monkeypatch.setenv(ASKED, "1")
    assert is_wanted()
    fit(Bar())
    bars, lines = [], []
    for line in capsys.readouterr().out.split("\n")[:-1]:
        (bars if line.startswith(MARK) else lines).append(line)
    assert any("epoch 2/2  step " in bar for bar in bars)
    assert [line[:9] for line in lines] == ["epoch 1/2", "epoch 2/2"]
