"""What was estimated, beside what TensorFlow's own allocator measured; and the command."""

import json

import pytest

from tests.processes import run_alone
from tfdist import estimate
from tfdist.memory.report import Report
from tfdist.memory.room import Room, most_rows
from tfdist.memory.step import Line, Step
from tfdist.memory.tasks import Shape, tasks

# TensorFlow's allocator counts all bytes of tensors and of kernels' scratch space. One batch that
# is repeated keeps out what an input pipeline reads ahead, which is a matter of speed.
MEASURED = """
import gc, json, os
os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
from tfdist.run.loading import load_tensorflow
load_tensorflow()
import keras, tensorflow as tf
from tfdist.cluster import Cluster
from tfdist.data import load
from tfdist.memory import estimate
from tfdist.memory.settings import EstimateSettings
from tfdist.run import job
import tfdist

SIZE = 32

def data():
    x = tf.data.Dataset.range(64).map(lambda i: (tf.zeros((SIZE, SIZE, 3)), i % 10))
    return {"train": x, "num_classes": 10}

def recurrent(input_shape, num_classes):
    return keras.Sequential([
        keras.layers.Input(input_shape),
        keras.layers.Reshape((32, -1)),
        keras.layers.LSTM(64, return_sequences=True),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(num_classes),
    ])

def now(what):
    return tf.config.experimental.get_memory_info("CPU:0")[what]

found, kept = {}, []
for model, rows in (("mlp", 8192), ("cnn", 256), ("resnet", 128), ("__main__:recurrent", 1024)):
    settings = EstimateSettings(model=model, dataset="__main__:data", batch_size_per_replica=rows,
                                strategy="one_device")
    report = estimate.run(settings, Cluster())
    batch = tf.zeros((rows, SIZE, SIZE, 3)), tf.zeros(rows, tf.int64)
    repeated = tf.data.Dataset.from_tensors(batch).repeat()
    next(iter(repeated))
    kept += [batch, repeated]
    gc.collect()
    before = now("current")
    tf.config.experimental.reset_memory_stats("CPU:0")
    strategy = tfdist.strategy("one_device", "cpu", cluster=Cluster())
    trained = job.model_of(settings, load("__main__:data", None, settings.reading()), strategy)
    trained.fit(repeated, steps_per_epoch=4, verbose=0)
    kept += [trained]
    batch_bytes = rows * (SIZE * SIZE * 3 * 4 + 8)
    needed = report.tasks[0].devices[0].total - batch_bytes
    found[model] = needed, now("peak") - before, report.unknown
print(json.dumps(found))
"""


def test_estimates_are_within_a_fifth_of_what_is_measured():
    done = run_alone(MEASURED, timeout_seconds=250)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == 4
    for model, (needed, measured, unknown) in found.items():
        assert needed == pytest.approx(measured, rel=0.2), (model, found)
        assert measured > 30e6
        assert unknown == []


def test_the_command_tells_what_each_task_holds():
    words = ["-m", "tfdist", "estimate", "--global_batch_size=64", "--devices=cpu:2", "--json"]
    done = run_alone(words)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["strategy"], found["fits"]) == ("mirrored", True)
    by_name = {(each["strategy"], each["task"]): each for each in found["tasks"]}
    mirrored = by_name["mirrored", "process"]
    assert [len(mirrored["devices"]), mirrored["batch_size_per_replica"]] == [2, 32]
    parameters = 64 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
    weights = mirrored["devices"][0]["variables"]
    assert weights == pytest.approx(4 * parameters, rel=0.001)  # and the state of metrics
    assert mirrored["devices"][0]["slots"] == pytest.approx(2 * weights, rel=0.001)
    assert found["largest_batch_size_per_replica"]["mirrored"] > 1000


def _report(room):
    shape = Shape(1, 1, 2, 1)
    step = Step(1e9, 2e9, 1e9, 1e8, Line(0, 1e7), Line(1e9, 0), Line(0, 1e5))
    found = [
        each for name in ("mirrored", "parameter_server") for each in tasks(step, name, 800, shape)
    ]
    most = {name: most_rows(step, name, room, shape) for name in ("mirrored", "parameter_server")}
    return Report("big", "mirrored", 7e8, room, found, most)


def test_what_does_not_fit_names_what_would():
    report = _report(Room(1.4e10))
    assert not report.fits
    assert report.fitting == ["parameter_server"]
    said = str(report).splitlines()[-1]
    most = report.largest["mirrored"]
    assert said == (
        f"mirrored does not fit: give --batch_size_per_replica={most}, or "
        "--strategy=parameter_server"
    )
    assert 0 < most < 800
    assert str(_report(Room(1e8))).endswith("mirrored does not fit: take a smaller model")
    assert str(_report(Room(1e12))).endswith("mirrored fits")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no batch size was given"),
        (["--global_batch_size=0"], "--global_batch_size is 0, but must be 1 or more"),
        (["--global_batch_size=8", "--steps=3"], "--steps is no flag"),
    ],
)
def test_a_mistake_is_one_sentence(capsys, words, said):
    assert estimate.main(words) == 2
    told = capsys.readouterr().err
    assert told.startswith(said)
    assert told.count("\n") == 1


def test_help_needs_no_tensorflow():
    done = run_alone(
        "import sys\nfrom tfdist import estimate\n"
        "assert estimate.main(['--help']) == 0 and 'tensorflow' not in sys.modules"
    )
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout
    assert "--global_batch_size=N" in done.stdout
