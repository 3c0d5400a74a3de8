"""What the lines say."""

import json
import re

import pytest

from tests.progress.small import fit
from tfdist import Lines
from tfdist.errors import UsageError
from tfdist.progress.lines import as_json, as_text
from tfdist.progress.look import Look


def test_a_line_for_people(capsys):
    fit(Lines(5), epochs=1)
    lines = capsys.readouterr().out.splitlines()
    assert re.match(r"step 5 - epoch 1/1, 5/10 - loss [\d.]+ - mae [\d.]+ - [\d,]+ examp", lines[0])
    assert [line.split(" - ")[0] for line in lines] == ["step 5", "step 10"]


def test_a_line_for_programs(capsys):
    _, history = fit(Lines(5, format="json"), epochs=1)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["event"], line["step"]) for line in lines] == [
        *[("step", 5), ("step", 10), ("epoch", 10)]
    ]
    assert lines[-1]["val_loss"] == pytest.approx(history["val_loss"][0], rel=1e-5)


def test_what_is_not_known_is_left_out_or_null():
    look = Look(7, 1, 2, 7, None, {"loss": float("nan")}, steps_per_second=3.0)
    assert as_text(look) == "step 7 - epoch 1/2, 7 - loss nan - 3.0 steps/s"
    told = json.loads(as_json("step", look))
    assert (told["loss"], told["steps_per_epoch"], told["examples_per_second"]) == (None,) * 3


def test_a_format_there_is_not():
    with pytest.raises(UsageError, match="format is 'xml': give one of text, json"):
        Lines(1, format="xml")
