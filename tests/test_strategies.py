"""Each recipe's flags and script run, and reach what they are said to reach."""

import json
import re
from pathlib import Path

import pytest

from tests.processes import run_alone, run_tasks

RECIPES = Path(__file__).parents[1] / "strategies"
ON_ONE_MACHINE = ("mirrored", "central_storage")
TASKS = {"multi_worker": {"workers": 2}, "parameter_server": {"workers": 1, "ps": 1, "chief": True}}
WAYS = ("train.flags", "train.py")


def play(strategy: str, way: str) -> str:
    """Run a recipe and return what its chief printed."""
    path = str(RECIPES / strategy / way)
    arguments = ["-m", "tfdist.train", f"--flagfile={path}"] if way == "train.flags" else [path]
    if strategy in ON_ONE_MACHINE:
        result = run_alone(arguments)
        assert result.returncode == 0, result.stderr
        return result.stdout
    results = run_tasks(arguments, timeout_seconds=240, **TASKS[strategy])
    assert [r.returncode for r in results] == [0] * len(results), results
    return max((r.stdout for r in results), key=len)


@pytest.mark.parametrize("strategy", [*ON_ONE_MACHINE, *TASKS])
@pytest.mark.parametrize("way", WAYS)
def test_a_recipe_learns_the_digits(strategy, way):
    printed = play(strategy, way)
    if way == "train.flags":
        record = json.loads(printed.splitlines()[-1])
        assert record["strategy"] == strategy
        assert record["val_accuracy"] > 0.9
    else:
        accuracies = re.findall(r"val_accuracy: ([\d.]+)", printed)
        assert float(accuracies[-1]) > 0.85


@pytest.mark.parametrize("strategy", [*ON_ONE_MACHINE, *TASKS])
def test_a_recipe_has_all_its_files(strategy):
    assert {p.name for p in (RECIPES / strategy).iterdir()} >= {"README.md", *WAYS}


def test_four_workers_train_on_unequal_parts_of_images(tmp_path):
    words = [str(RECIPES / "multi_worker" / "own_parts.py"), f"--folder={tmp_path}", "--size=16"]
    results = run_tasks([*words, "--images=12", "--rows=4"], workers=4, timeout_seconds=240)
    assert [r.returncode for r in results] == [0] * 4, results
    assert [len(list(tmp_path.glob(f"part-{n}/*/*.jpg"))) for n in range(4)] == [12, 24, 36, 48]
    # The largest part without what is held out has 44 images: 11 steps of 4, for all.
    printed = results[0].stdout
    assert printed.count("11/11 - ") == 3
    losses = [float(each) for each in re.findall(r" loss: ([\d.]+)", printed)]
    assert losses[-1] < losses[0]
