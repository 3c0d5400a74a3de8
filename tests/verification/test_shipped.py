"""The models that tfdist ships give the numbers of one device under every strategy."""

import json

import pytest

from tests.conformance.strategies import STRATEGIES
from tests.processes import run_tasks
from tests.verification import shipped

LIMIT = 1e-5  # relative
BY_DESIGN = "a replica normalizes by the statistics of its own rows"


@pytest.fixture(scope="module", params=["mirrored", "central_storage"])
def strategy(request):
    return STRATEGIES[request.param].make()


@pytest.mark.parametrize("name", ["mlp", "cnn"])
def test_one_process(strategy, name):
    report = shipped.report(name, strategy)
    (comparison,) = report.comparisons
    assert (report.verdict, report.replicas) == ("equal", 2)
    assert comparison.largest < LIMIT
    logs = {row.name for row in comparison.rows if row.kind == "log"}
    assert logs == {"loss", "accuracy", "evaluate loss", "evaluate accuracy"}
    assert {row.one_device for row in comparison.rows if row.kind == "count"} == {shipped.STEPS}


def test_batch_normalization_in_one_process(strategy):
    assert_by_design(json.loads(shipped.report("resnet", strategy).as_json()))


def assert_by_design(report):
    assert (report["verdict"], report["is_equal"]) == ("equal but by design", True)
    assert largest(report["comparisons"][0]) > 1e-3
    assert largest(report["comparisons"][-1]) < LIMIT
    (cause,) = report["causes"]
    assert cause["what"].endswith(BY_DESIGN)
    assert cause["what"].startswith("batch_normalization, batch_normalization_1 and 7 layers more")
    assert "synchronized=True" in cause["remedy"]


def largest(comparison):
    return max(row["difference"] for row in comparison["rows"])


def test_two_workers():
    names = ["mlp", "cnn", "resnet", "OwnMean", "OwnSum", "other data", "other start"]
    results = run_tasks(
        ["-m", "tests.verification.tasks", "multi_worker", *names], timeout_seconds=240
    )
    assert [each.returncode for each in results] == [0, 0], results
    chief, other = ([json.loads(line) for line in each.stdout.splitlines()] for each in results)
    assert chief[:-1] == other[:-1]
    mlp, cnn, resnet, own_mean, own_sum, data, start = chief
    for report in (mlp, cnn, own_mean):
        assert (report["verdict"], report["strategy"]) == ("equal", "multi_worker")
        assert (report["replicas"], report["workers"]) == (2, 2)
        assert largest(report["comparisons"][0]) < LIMIT
    assert_by_design(resnet)
    assert own_sum["causes"][0]["factor"] == pytest.approx(0.5, rel=1e-3)
    assert said(data) == "worker 1 reads other batches than the first task, from batch 1 on"
    assert said(start) == "worker 1 begins with other weights than the first task"


def said(report):
    assert report["verdict"] == "different"
    (cause,) = report["causes"]
    return cause["what"]


def test_parameter_server():
    names = ["mlp", "cnn", "resnet"]
    chief, *servers = run_tasks(
        ["-m", "tests.verification.tasks", "parameter_server", *names],
        chief=True,
        workers=1,
        ps=1,
        timeout_seconds=150,
    )
    assert [each.returncode for each in (chief, *servers)] == [0, 0, 0], chief
    found = [json.loads(line) for line in chief.stdout.splitlines()]
    assert [each["verdict"] for each in found] == ["equal"] * 3
    assert max(largest(each["comparisons"][0]) for each in found) < LIMIT


def test_two_asynchronous_workers_are_equal_one_step_at_a_time():
    chief, *_ = run_tasks(
        ["-m", "tests.verification.tasks", "parameter_server", "OwnMean"],
        chief=True,
        workers=2,
        ps=1,
        timeout_seconds=150,
    )
    (report,) = map(json.loads, chief.stdout.splitlines())
    assert report["is_equal"], report
    assert (report["replicas"], report["workers"]) == (2, 2)
    assert largest(report["comparisons"][-1]) < LIMIT
