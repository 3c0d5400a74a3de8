"""The bar of a cell: what a task tells of it, and what is drawn from that."""

import sys
from types import SimpleNamespace

import pytest

from tests.progress.test_bar import HALF
from tfdist.cluster import Task
from tfdist.notebook.told import as_told
from tfdist.notebook.widget import Widget, can_be_drawn
from tfdist.progress.look import Look

CHIEF = Task("worker", 0)


@pytest.fixture
def drawn(monkeypatch):
    """What would be in the cell."""
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    return shown


def drawn_from(widget, look):
    widget(CHIEF, "stdout", as_told(look).rstrip("\n"))


def test_a_look_of_a_task_moves_the_bar_and_other_lines_are_passed_on(drawn):
    lines = []
    with Widget(lambda *line: lines.append(line)) as widget:
        widget(CHIEF, "stdout", "hello")
        assert drawn == []  # nothing is trained yet
        drawn_from(widget, HALF)
        drawn_from(widget, Look(120, 3, 3, 40, 40, {"loss": 0.125}))
        bar, text = drawn[0].children
        assert (bar.value, text.value) == (1.0, "epoch 3/3  step 40/40  loss 0.125")
        drawn_from(widget, HALF)
        assert bar.value == pytest.approx(50 / 120)
        assert text.value.startswith("epoch 2/3  step 10/40  12,346 examples/s  1:56:40 left")
    assert (len(drawn), lines) == (1, [(CHIEF, "stdout", "hello")])
    assert bar.bar_style == "success"


def test_a_failure_leaves_it_red_and_an_unknown_length_full(drawn):
    widget = Widget(print)
    drawn_from(widget, Look(7, 1, 2, 7, None))
    widget.__exit__(KeyError)
    bar, text = drawn[0].children
    assert (bar.value, bar.bar_style, text.value) == (1.0, "danger", "epoch 1/2  step 7")


@pytest.mark.parametrize(
    ("shell", "found", "drawn"),
    [
        (SimpleNamespace(kernel=1), True, True),
        (SimpleNamespace(kernel=1), None, False),  # no ipywidgets
        (SimpleNamespace(), True, False),  # IPython in a terminal
        (None, True, False),
    ],
)
def test_it_is_drawn_in_a_kernel_that_has_ipywidgets(monkeypatch, shell, found, drawn):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr("tfdist.notebook.widget.find_spec", lambda name: found)
    assert can_be_drawn() is drawn


def test_a_plain_python_draws_none(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not can_be_drawn()
