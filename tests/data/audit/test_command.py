"""The audit as a command: in one process, and in the tasks of a real cluster."""

import pytest

from tests.data.pictures import write_classes
from tests.processes import run_alone, run_tasks
from tfdist.data.__main__ import main

DATA = """
import json, os
import numpy as np
import tensorflow as tf

def numbers(n, seed=None):
    dataset = tf.data.Dataset.from_tensor_slices((np.arange(n, dtype=np.float32), np.arange(n)))
    return {"train": dataset if seed is None else dataset.shuffle(n, seed)}

def right(): return numbers(97)
def wrong(): return numbers(97, json.loads(os.environ["TF_CONFIG"])["task"]["index"])
"""


@pytest.fixture
def data(tmp_path, monkeypatch):
    (tmp_path / "audited_data.py").write_text(DATA)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def words(function, *more):
    return ["--audit", f"--dataset=audited_data:{function}", "--global_batch_size=10", *more]


@pytest.mark.usefixtures("data")
def test_right_data_ends_with_0(capsys):
    assert main(words("right", "--workers=3", "--replicas_per_worker=2")) == 0
    assert capsys.readouterr().out.splitlines() == [
        "audited_data:right: 97 examples",
        "  batches     9 of 10, 1 of 7",
        "  worker 0    29 (10, 19)",
        "  worker 1    29 (10, 19)",
        "  worker 2    39 (19, 20)",
        "  seen twice  0",
        "  never seen  0",
        "verdict: each example is read exactly once",
    ]


@pytest.mark.usefixtures("data")
def test_examples_that_are_dropped_on_request(capsys):
    assert main(words("right", "--drop_remainder", "--workers=2")) == 0
    told = capsys.readouterr().out
    assert "  never seen  7, of which 7 in a last batch that is not full\nverdict: each" in told


def test_a_folder_of_one_word_is_no_function(tmp_path, monkeypatch, capsys):
    write_classes(tmp_path / "pictures", dark=6, bright=6)
    monkeypatch.chdir(tmp_path)
    assert main(["--audit", "--dataset=folder:pictures", "--image_size=4", "--workers=2"]) == 0
    assert "verdict: each example is read exactly once" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "nothing to do was given: give one of --audit and --bench"),
        (["--audit", "--bench"], "both --audit and --bench were given: give one of"),
        (["--audit", "--workers=0"], "--workers is 0, but must be 1 or more"),
        (["--audit", "--global_batch_size=0"], "global_batch_size is 0, but must be 1 or more"),
        (["--bench", "--seconds=0"], "--seconds is 0.0, but must be above 0"),
        (["--audit", "--image_size=a"], "--image_size is 'a': give pixels"),
        (["--audit", "--batch=5"], "--batch is no flag"),
    ],
)
def test_wrong_flags_end_with_2(given, message, capsys):
    assert main(given) == 2
    assert capsys.readouterr().err.startswith(message)


def test_help_needs_no_tensorflow():
    script = "import sys; from tfdist.data.__main__ import main; main(['--help'])\n"
    done = run_alone(script + "sys.exit('tensorflow' in sys.modules)")
    assert (done.returncode, "--max_bad_examples=N" in done.stdout) == (0, True)


def in_cluster(data, *given):
    command = ["-m", "tfdist.data", *words(*given)]
    env = {"PYTHONPATH": f"{data}:."}
    chief, other = run_tasks(command, workers=2, timeout_seconds=150, env=env)
    assert other.stdout == ""
    return chief, other


def test_the_tasks_of_a_cluster_read_right_data(data):
    chief, other = in_cluster(data, "right", "--drop_remainder")
    assert (chief.returncode, other.returncode) == (0, 0), (chief, other)
    assert chief.stdout.splitlines() == [
        "audited_data:right: 97 examples",
        "  batches     9 of 10",
        "  worker 0    45",
        "  worker 1    45",
        "  seen twice  0",
        "  never seen  7, of which 7 in a last batch that is not full",
        "verdict: each example is read exactly once",
    ]


def test_the_tasks_of_a_cluster_shuffle_each_with_a_seed_of_its_own(data):
    chief, other = in_cluster(data, "wrong")
    assert (chief.returncode, other.returncode) == (1, 1), (chief, other)
    assert "the workers read in different orders: shuffle with one seed" in chief.stdout


CLUSTER = '{"cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]}, "task": %s}'


def test_workers_are_not_simulated_in_a_cluster(monkeypatch, capsys):
    config = CLUSTER.replace(', "ps": ["c:1"]', "") % '{"type": "worker", "index": 1}'
    monkeypatch.setenv("TF_CONFIG", config)
    assert main(words("right", "--workers=3")) == 2
    told = capsys.readouterr().err
    assert told.startswith("--workers is 3, and TF_CONFIG describes a cluster of 2: leave it out")


@pytest.mark.parametrize("task", ["worker", "ps"])
def test_tasks_that_only_serve_read_nothing(task, monkeypatch, capsys):
    config = CLUSTER.replace('{"worker"', '{"chief": ["d:1"], "worker"')
    monkeypatch.setenv("TF_CONFIG", config % f'{{"type": "{task}", "index": 0}}')
    assert main(words("right")) == 0
    assert capsys.readouterr().out.startswith(f"tfdist: {task} 0 reads no data")
