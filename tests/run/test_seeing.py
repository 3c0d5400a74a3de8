"""What shows a run, by its settings."""

import json

import pytest

from tfdist.progress.bar import Bar
from tfdist.progress.board import Board
from tfdist.progress.lines import Lines
from tfdist.progress.trace import Trace
from tfdist.run.seeing import observers, opening, shown
from tfdist.run.settings import Settings


@pytest.mark.parametrize(
    ("given", "kinds"),
    [
        ({}, []),
        ({"log_every": 5, "verbose": "2"}, [Lines]),
        ({"log_every": 5, "verbose": "1"}, [Bar]),
        ({"log_format": "json"}, [Lines]),
        ({"log_dir": "logs", "verbose": "1"}, [Bar, Board]),
        ({"log_dir": "logs", "verbose": "0", "profile_steps": "1:2"}, [Board, Trace]),
    ],
)
def test_the_callbacks_that_flags_ask_for(given, kinds):
    assert [type(each) for each in observers(Settings(global_batch_size=1, **given))] == kinds


def test_keras_shows_its_lines_where_there_is_no_bar():
    kinds = {"0": 0, "1": 0, "2": 2, "auto": 2}
    assert {v: shown(Settings(global_batch_size=1, verbose=v)) for v in kinds} == kinds


def test_in_json_every_line_is_an_object():
    settings = Settings(global_batch_size=1, log_format="json", verbose="1")
    assert shown(settings) == 0
    assert json.loads(opening(settings, "tfdist\n")) == {"event": "start", "text": "tfdist\n"}
    assert opening(Settings(global_batch_size=1), "tfdist\n") == "tfdist\n"
