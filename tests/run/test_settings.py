"""What a run is told is checked at once: pure."""

import re

import pytest

from tfdist.errors import UsageError
from tfdist.run.settings import Settings

MISTAKES = [
    ({}, "no batch size was given: give --global_batch_size (such as 64) or"),
    (
        {"global_batch_size": 64, "batch_size_per_replica": 8},
        "--global_batch_size is 64 and --batch_size_per_replica is 8, but one follows from the "
        "other: give one of them",
    ),
    ({"global_batch_size": 0}, "--global_batch_size is 0, but must be 1 or more"),
    ({"batch_size_per_replica": -1}, "--batch_size_per_replica is -1, but must be 1 or more"),
    ({"epochs": 0}, "--epochs is 0, but must be 1 or more: give a larger number"),
    ({"steps_per_epoch": 0}, "--steps_per_epoch is 0, but must be 1 or more"),
    ({"learning_rate": 0.0}, "--learning_rate is 0.0, but must be above 0: give one such as 0.001"),
    ({"learning_rate": float("nan")}, "--learning_rate is nan, but must be above 0"),
    ({"learning_rate": float("inf")}, "--learning_rate is inf, but must be above 0"),
    ({"stall_seconds": 0.0}, "--stall_seconds is 0.0, but must be above 0: give 120 or inf"),
    ({"strategy": "miror"}, "--strategy is 'miror': give one of auto, one_device, mirrored"),
    ({"optimizer": "admw"}, "--optimizer is 'admw': give one of sgd, momentum, adam, adamw"),
    ({"transport": "tcp"}, "--transport is 'tcp': give one of auto, ring, nccl, mpi"),
    ({"precision": "float8"}, "--precision is 'float8': give one of float32, bfloat16"),
    ({"verbose": "3"}, "--verbose is '3': give one of auto, 0, 1, 2"),
    ({"dataset": ""}, "--dataset is '': give digits, a name of TensorFlow Datasets"),
    ({"dataset": "my digits"}, "--dataset is 'my digits': give digits, a name of"),
    ({"model": "cnnn"}, "--model is 'cnnn': give mlp, cnn, resnet, a name of keras.applications"),
    ({"devices": "tpu"}, "devices 'tpu' was not understood: write cpu, cpu:2"),
    ({"log_every": 0}, "--log_every is 0, but must be 1 or more"),
    ({"log_format": "xml"}, "--log_format is 'xml': give one of text, json"),
    ({"profile_steps": "20:10"}, "--profile_steps is '20:10': give the first step"),
    ({"profile_steps": "1:2"}, "--profile_steps was given without --log_dir: give the folder too"),
    ({"log_graph": True}, "--log_graph was given without --log_dir: give the folder too"),
    ({"transport": "tcp"}, "--transport is 'tcp': give one of auto, ring, nccl, mpi"),
    ({"compression": "zip"}, "--compression is 'zip': give one of none, factors, bf16, fp16"),
    ({"jit": "yes"}, "--jit is 'yes': give one of auto, on, off"),
    ({"lr_scaling": "square"}, "--lr_scaling is 'square': give one of none, linear, sqrt"),
    ({"warmup_steps": -1}, "--warmup_steps is -1, but must be 0 or more: give a larger number"),
    ({"accumulate_steps": 0}, "--accumulate_steps is 0, but must be 1 or more"),
    ({"sync": "never"}, "--sync is 'never': give one of every_step, local"),
    ({"sync": "local"}, "--sync is 'local' and --sync_period is None: give --sync=local and"),
    ({"sync_period": 4}, "--sync is 'every_step' and --sync_period is 4: give --sync=local and"),
    ({"sync": "local", "sync_period": 0}, "--sync_period is 0, but must be 1 or more"),
    ({"on_nan": "skip"}, "--on_nan is 'skip': give one of stop, rollback, ignore"),
    ({"on_nan": "rollback"}, "--on_nan=rollback goes back to a checkpoint: give --checkpoint_dir"),
    (
        {"on_nan": "rollback", "checkpoint_dir": "x", "sync": "local", "sync_period": 2},
        "--on_nan=rollback needs one step of all workers, and --sync=local was given",
    ),
    ({"async_save": True}, "--async_save was given without --checkpoint_dir: give the folder too"),
    ({"seed": -1}, "seed -1 was given: use a whole number from 0"),
]


@pytest.mark.parametrize(("wrong", "said"), MISTAKES)
def test_mistakes_are_one_sentence(wrong, said):
    batch = {} if not wrong or any("batch" in name for name in wrong) else {"global_batch_size": 1}
    with pytest.raises(UsageError, match=f"^{re.escape(said)}") as caught:
        Settings(**batch, **wrong)
    assert "\n" not in str(caught.value)


def test_a_close_name_is_suggested():
    with pytest.raises(UsageError, match="did you mean 'mirrored'"):
        Settings(strategy="miror", explain=True)


@pytest.mark.parametrize("name", ["resnet", "MobileNetV2", "keras.applications.VGG16", "my:net"])
def test_models_that_may_exist_pass(name):
    assert Settings(model=name, global_batch_size=1).model == name


def test_explaining_needs_no_batch_size():
    assert Settings(explain=True).explain


def test_global_batch():
    assert Settings(global_batch_size=64).global_batch(4) == 64
    assert Settings(batch_size_per_replica=16).global_batch(4) == 64


def test_what_all_tasks_must_be_told_alike():
    one = Settings(global_batch_size=64, epochs=2, data_dir="/here", verbose="0").same()
    assert (one["epochs"], one["global_batch_size"], one["stall_seconds"]) == (2, 64, 120.0)
    assert not {"data_dir", "checkpoint_dir", "cache", "verbose", "seed"} & set(one)


@pytest.mark.parametrize(("rule", "factor"), [("none", 1), ("linear", 4), ("sqrt", 2)])
def test_the_learning_rate_of_four_replicas(rule, factor):
    assert Settings(global_batch_size=64, lr_scaling=rule).rate_factor(4) == factor
