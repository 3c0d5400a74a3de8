"""The door to training, as real processes: its answers, and the same numbers everywhere."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from tests.processes import run_alone, run_tasks, start_tasks

ROOT = Path(__file__).resolve().parent.parent
DOOR = ["-m", "tfdist.train"]
# 1437 examples: the last step of an epoch has one, so that one of two replicas has none.
DIGITS = ["--dataset=digits", "--global_batch_size=359", "--epochs=2", "--learning_rate=0.01"]
FIELDS = {
    *("strategy", "replicas", "workers", "steps", "epochs", "examples", "examples_per_second"),
    *("loss", "accuracy", "val_loss", "val_accuracy", "weights_digest", "weights_norm"),
    *("tensorflow", "keras", "tfdist", "seed"),
}
TWO = '{"cluster": {"worker": ["h1:1", "h2:1"]}, "task": {"type": "worker", "index": 0}}'
OWN = """
import keras
import numpy as np
import tensorflow as tf

def data():
    x = np.arange(20, dtype="float32")[:, None]
    return tf.data.Dataset.from_tensor_slices((x, 2 * x)), None

def net():
    model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mae")
    return model
"""


def answer(*words, folder=ROOT, **variables):
    """Run the interpreter without a cluster or settings of the test's own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, *words]
    return subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=60)


def test_help_answers():
    done = answer(*DOOR, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: python -m tfdist.train")
    assert "--global_batch_size=N" in done.stdout


@pytest.mark.parametrize(
    ("words", "config", "said"),
    [
        (["--epoch=3"], None, "--epoch is no flag; did you mean '--epochs'?\n"),
        ([], None, "no batch size was given: give --global_batch_size"),
        (["--global_batch_size=8", "--model=cnnn"], None, "--model is 'cnnn': give mlp, cnn"),
        (["--global_batch_size=8"], "", "TF_CONFIG: it is empty; unset it"),
        (["--global_batch_size=8"], TWO.replace('"', "'"), "TF_CONFIG: it has single quotes"),
        (["--explain"], TWO.replace("worker", "boss"), "TF_CONFIG: the cluster has a job 'boss'"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(tmp_path, words, config, said):
    variables = {} if config is None else {"TF_CONFIG": config}
    done = answer(*DOOR, *words, folder=tmp_path, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_evaluator_needs_checkpoints():
    config = TWO.replace('"type": "worker"', '"type": "evaluator"')
    done = answer(*DOOR, "--global_batch_size=8", TF_CONFIG=config)
    assert done.returncode == 2
    assert (
        "TF_CONFIG makes this process evaluator 0, which evaluates checkpoints: give" in done.stderr
    )


def test_nothing_of_this_loads_what_takes_long():
    code = """
import sys, tfdist.train
for words in (["--help"], ["--epochs=a"], ["--explain", "--devices=cpu:2"]):
    tfdist.train.main(words)
print([name for name in ("tensorflow", "keras", "numpy") if name in sys.modules])
"""
    assert answer("-c", code).stdout.endswith("\n[]\n")


def test_explain_says_the_choice_and_every_refusal():
    done = answer(*DOOR, "--explain", "--devices=cpu:2")
    assert done.returncode == 0
    assert done.stdout.startswith("strategy: mirrored, because one process has 2 CPU devices\n")
    for name in ("one_device", "multi_worker", "central_storage", "parameter_server"):
        assert f"  not {name}: " in done.stdout


def test_explain_in_a_cluster_refuses_what_does_not_fit():
    done = answer(*DOOR, "--explain", "--devices=cpu", TF_CONFIG=TWO)
    assert done.stdout.startswith("strategy: multi_worker, because 2 workers in the cluster\n")
    done = answer(*DOOR, "--explain", "--devices=cpu", "--strategy=mirrored", TF_CONFIG=TWO)
    assert done.returncode == 2
    assert "TF_CONFIG describes a cluster of 2 workers: use multi_worker" in done.stderr


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return str(tmp_path_factory.mktemp("digits"))


def train(data_dir, strategy, devices, **cluster):
    """Train in every task, and return their records, in which the chief's is the first."""
    words = [*DOOR, *DIGITS, f"--data_dir={data_dir}", f"--strategy={strategy}"]
    words.append(f"--devices={devices}")
    results = run_tasks(words, timeout_seconds=200, **cluster) if cluster else [run_alone(words)]
    assert [each.returncode for each in results] == [0] * len(results), results
    return results, [record(each) for each in results if each.stdout]


def record(result):
    return json.loads(result.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def one_device(data_dir):
    return train(data_dir, "one_device", "cpu")[1][0]


def assert_same_numbers(found, reference):
    for name in ("weights_norm", "loss", "accuracy", "val_loss", "val_accuracy"):
        assert found[name] == pytest.approx(reference[name], rel=1e-5), name
    for name in ("steps", "examples", "epochs", "seed", "global_batch", "learning_rate"):
        assert found[name] == reference[name], name


def test_the_record_has_every_field_and_counts_every_example(one_device):
    assert set(one_device) >= FIELDS
    assert one_device["strategy"] == "one_device"
    assert (one_device["replicas"], one_device["workers"]) == (1, 1)
    assert (one_device["epochs"], one_device["steps"]) == (2, 10)
    assert one_device["examples"] == 2 * 1437
    assert len(one_device["weights_digest"]) == 64
    assert one_device["examples_per_second"] > 0


@pytest.mark.parametrize("strategy", ["mirrored", "central_storage"])
def test_two_replicas_give_the_numbers_of_one_device(data_dir, one_device, strategy):
    _, (found,) = train(data_dir, strategy, "cpu:2")
    assert (found["strategy"], found["replicas"]) == (strategy, 2)
    assert_same_numbers(found, one_device)


def test_two_workers_give_the_numbers_of_one_device(data_dir, one_device):
    results, (chief, other) = train(data_dir, "multi_worker", "cpu", workers=2)
    assert (chief["replicas"], chief["workers"]) == (2, 2)
    assert (chief["task"], other["task"]) == ("worker 0", "worker 1")
    assert chief["weights_digest"] == other["weights_digest"]
    assert_same_numbers(chief, one_device)
    said = [each.stdout.splitlines() for each in results]
    assert said[0][1] == "  cluster    2 workers, from TF_CONFIG; this is worker 0"
    assert said[1][0] == "tfdist: worker 1 trains, rank 1 of 2; the chief is worker 0"
    assert len(said[1]) == 2


def test_a_lost_worker_is_named_and_the_run_may_be_started_again(data_dir):
    words = [*DOOR, *DIGITS, f"--data_dir={data_dir}", "--epochs=1000000", "--verbose=2"]
    with start_tasks(words, workers=2) as (chief, other):
        deadline = time.monotonic() + 100
        while "val_loss" not in chief.output()[0]:  # until both are in the middle of it
            assert chief.process.poll() is None, chief.output()
            assert time.monotonic() < deadline, chief.output()
            time.sleep(0.1)
        other.kill()
        ended = chief.wait(60)
    assert ended.returncode == 75
    assert ended.stderr.splitlines()[-1].startswith("worker 1 at 127.0.0.1:")
    assert ended.stderr.endswith(" start the job again.\n")
    assert "Traceback" not in ended.stderr


def test_one_worker_under_parameter_servers_gives_the_numbers_of_one_device(data_dir, one_device):
    results, (chief,) = train(data_dir, "auto", "cpu", chief=True, workers=1, ps=1)
    assert (chief["strategy"], chief["replicas"]) == ("parameter_server", 1)
    assert_same_numbers(chief, one_device)
    assert [each.task for each in results] == ["chief 0", "worker 0", "ps 0"]
    # TensorFlow says so when the chief computes in the place of the worker.
    assert "ClusterCoordinator.schedule" not in results[0].stderr


def test_own_data_and_model_in_steps_of_given_number(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    words = ["--dataset=own:data", "--model=own:net", "--devices=cpu:2", "--strategy=mirrored"]
    words += ["--batch_size_per_replica=4", "--steps_per_epoch=4", "--epochs=2"]
    done = run_alone([*DOOR, *words], env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done
    found = record(done)
    assert (found["global_batch"], found["steps"], found["optimizer"]) == (8, 8, "sgd")
    # Steps of 8, 8, 4 examples are a pass, and 8 steps are two passes and two steps.
    assert found["examples"] == 2 * 20 + 2 * 8
    assert "val_loss" not in found
    assert "4 steps an epoch, 20 examples, none dropped" in done.stdout


def test_the_screen_stays_clean(data_dir):
    words = [f"--data_dir={data_dir}", "--global_batch_size=359", "--devices=cpu:2", "--verbose=0"]
    done = answer(*DOOR, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        *("tfdist", "cluster", "strategy", "replicas", "batch", "model", "optimizer", "seed"),
        *("settings", '{"strategy":'),
    ]


def test_a_folder_of_images_is_read_as_the_flags_say(tmp_path):
    folder = tmp_path / "my pictures"
    for name in ("cat", "dog"):
        (folder / name).mkdir(parents=True)
        for number in range(6):
            pixels = np.full((9, 12, 3), 40 * number, np.uint8)
            (folder / name / f"{number}.png").write_bytes(tf.io.encode_png(pixels).numpy())
    (folder / "cat" / "broken.png").write_bytes(b"no image")
    words = [
        *(f"--dataset=folder:{folder}", "--image_size=24", "--channels=1", "--resize=16"),
        *("--flip", "--crop=0.8", "--validation_fraction=0", "--drop_remainder"),
        *("--global_batch_size=4", "--max_bad_examples=1", "--model=cnn"),
    ]
    done = answer(*DOOR, *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "13 examples, 1 left out an epoch" in done.stdout
    assert "loss: " in done.stdout
    assert f"left out {folder}/cat/broken.png" in done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["steps"] == 3
    refused = answer(*DOOR, *words, "--max_bad_examples=0", folder=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"{folder}/cat/broken.png (")
