"""`python -m tfdist.verify`, as a process: what it prints, and its exit codes."""

import json

import pytest

from tests.processes import run_alone
from tfdist.run import Settings
from tfdist.verification.settings import VerifySettings

DOOR = ["-m", "tfdist.verify"]
OWN = """
import numpy as np
import tensorflow as tf
from tests.verification import steps

def data():
    return steps.data().unbatch(), None

def net():
    return steps.compiled(steps.OwnSum)()
"""


def test_help_loads_no_tensorflow_and_has_the_flags_of_train():
    code = "import sys, tfdist.verify as v; v.main(['--help']); print('tensorflow' in sys.modules)"
    done = run_alone(code)
    assert done.stdout.endswith("\nFalse\n"), done
    assert all(f"--{name}" in done.stdout for name in Settings.__dataclass_fields__)
    assert "--steps=N" in done.stdout


def test_a_shipped_model_is_equal(tmp_path):
    words = ["--devices=cpu:2", "--global_batch_size=64", f"--data_dir={tmp_path}"]
    done = run_alone([*DOOR, *words])
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    assert lines[0] == (
        "mirrored, 2 replicas, against plain Keras on one device: 20 steps of 64 examples, the "
        "last of 63"
    )
    layers = {line.split()[1] for line in lines if line.startswith("  layer ")}
    assert layers == {"mlp/dense", "mlp/dense_1", "mlp/logits"}
    assert lines[-1] == "verdict: equal: the numbers are those of one device"


def test_a_step_with_a_sum_is_different(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    words = ["--dataset=own:data", "--model=own:net", "--devices=cpu:2", "--steps=4", "--json"]
    env = {"PYTHONPATH": str(tmp_path)}
    done = run_alone([*DOOR, *words, "--batch_size_per_replica=8"], env=env)
    assert done.returncode == 1, done
    report = json.loads(done.stdout)
    assert (report["verdict"], report["batches"]) == ("different", [16, 16, 16, 15])
    assert report["causes"][0]["factor"] == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--steps=0", "--global_batch_size=8"],
            "--steps is 0, but must be 1 or more: give one such as 20\n",
        ),
        (["--stepss=3"], "--stepss is no flag"),
        ([], "no batch size was given: give --global_batch_size"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(words, said):
    done = run_alone([*DOOR, *words])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)


def test_settings_are_those_of_train_and_two_more():
    settings = VerifySettings(global_batch_size=8)
    assert (settings.steps, settings.json, settings.global_batch(2)) == (20, False, 8)
