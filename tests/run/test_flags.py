"""From words to settings: pure."""

import re
from dataclasses import fields

import pytest

from tfdist.errors import UsageError
from tfdist.run.flags import asks_for_help, help_text, parse
from tfdist.run.settings import Settings


def test_every_flag_reaches_its_field():
    words = [
        *("--dataset=mnist", "--data_dir=/data", "--model", "cnn", "--precision=bfloat16"),
        *("--strategy=mirrored", "--devices=cpu:2", "--noexplain", "--batch_size_per_replica=8"),
        *("--epochs=3", "--steps_per_epoch=7", "--optimizer=lion", "--learning_rate=1e-3"),
        *("--seed=5", "--verbose=2"),
    ]
    assert parse(Settings, words) == Settings(
        dataset="mnist",
        data_dir="/data",
        model="cnn",
        precision="bfloat16",
        strategy="mirrored",
        devices="cpu:2",
        explain=False,
        batch_size_per_replica=8,
        epochs=3,
        steps_per_epoch=7,
        optimizer="lion",
        learning_rate=0.001,
        seed=5,
        verbose="2",
    )


def test_no_flag_leaves_the_defaults():
    assert parse(Settings, ["--global_batch_size=64"]) == Settings(global_batch_size=64)


def test_flagfile_stands_for_its_flags_and_the_last_wins(tmp_path):
    file = tmp_path / "flags"
    file.write_text("# the usual ones\n--global_batch_size=64\n\n--epochs=3\n")
    settings = parse(Settings, ["--epochs=2", f"--flagfile={file}", "--seed=1"])
    assert (settings.global_batch_size, settings.epochs, settings.seed) == (64, 3, 1)
    assert parse(Settings, [f"--flagfile={file}", "--epochs=2"]).epochs == 2


MISTAKES = [
    (["--epoch=3"], "--epoch is no flag; did you mean '--epochs'?"),
    (["--zzz"], "--zzz is no flag: --help shows those there are"),
    (["--epochs=a"], "--epochs=a: a whole number is expected, such as 10"),
    (["--epochs=1.5"], "--epochs=1.5: a whole number is expected, such as 10"),
    (["--learning_rate=fast"], "--learning_rate=fast: a number is expected, such as 0.001"),
    (["--epochs"], "Missing value for flag --epochs: write flags as --name=value"),
    (["--explain=maybe"], "--explain=maybe: give the flag alone, or with true or false"),
    (["--noexplain=1"], "--noexplain=1 does not take an argument"),
    (["digits"], "'digits' was not understood: write flags as --name=value"),
    (["--flagfile"], "--flagfile with no argument: write flags as --name=value"),
    (["--flagfile=/no/such"], "--flagfile cannot be read ([Errno 2] No such file or directory"),
]


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_mistakes_are_one_sentence(words, said):
    with pytest.raises(UsageError, match=f"^{re.escape(said)}") as caught:
        parse(Settings, words)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", ["--help", "-help", "-h"])
def test_help_is_asked_for(word):
    assert asks_for_help(["--epochs=3", word])
    assert not asks_for_help(["--epochs=3"])


def test_help_shows_every_flag_with_its_default_in_80_columns_and_no_other():
    text = help_text(Settings, "command", "What it does.")
    shown = re.findall(r"^  --(\w+)", text, re.MULTILINE)
    assert sorted(shown) == sorted([*(each.name for each in fields(Settings)), "flagfile"])
    assert (shown[0], shown[-1]) == ("model", "flagfile")  # what it inherits comes later
    assert max(map(len, text.splitlines())) <= 80
    assert "passes over the data [1]" in text
    assert "[adam]" in text
    assert "[None]" not in text
    assert "[False]" not in text
