import json

import numpy as np
import pytest

from tests.processes import run_alone
from tests.transport.mpirun import mpirun
from tests.transport.small_model import SCRIPT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mpi")


@pytest.fixture(scope="module")
def many(folder):
    result = mpirun(SCRIPT.format(several=True, folder=folder), folder)
    assert result.returncode == 0, result
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(scope="module")
def one(folder):
    result = run_alone(SCRIPT.format(several=False, folder=folder))
    assert result.returncode == 0, result
    return json.loads(result.stdout)


def test_the_strategy_stays_tensorflows(many):
    assert [task["strategy"] for task in many] == ["CollectiveAllReduceStrategy"] * 2


def test_the_bits_are_the_same_on_both_tasks(many):
    assert many[0]["digest"] == many[1]["digest"]


def test_the_weights_are_those_of_one_device(folder, many, one):
    together, alone = (np.load(folder / f"{name}0.npz") for name in ("many", "one"))
    assert together.files == alone.files
    for name in alone.files:
        np.testing.assert_allclose(together[name], alone[name], rtol=1e-5, atol=1e-5)


def test_the_history_is_that_of_one_device(many, one):
    for task in many:
        assert task["history"].keys() == one["history"].keys()
        for name, values in one["history"].items():
            np.testing.assert_allclose(task["history"][name], values, rtol=1e-5, err_msg=name)


def test_every_task_predicts_all_rows(many, one):
    for task in many:
        np.testing.assert_allclose(task["predicted"], one["predicted"], rtol=1e-4, atol=1e-5)
