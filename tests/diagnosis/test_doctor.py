"""`python -m tfdist.doctor`: alone, and in all tasks of a cluster at once."""

import json
import os
from pathlib import Path

import pytest

import tfdist
from tests.processes import run_alone, run_tasks

ROOT = Path(tfdist.__file__).parent.parent

# In place of TensorFlow, which these need not load.
NO_TENSORFLOW = "raise ImportError('no TensorFlow here')\n"
DIFFERENT = """
import json, os, sys, time
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
os.environ["XLA_FLAGS"] = str(index)
real = time.time
time.time = lambda: real() + 60 * index
from tfdist.doctor import main
sys.exit(main(["--json", "--checkpoint_dir=FOLDER/" + str(index)]))
"""


@pytest.fixture
def without_tensorflow(tmp_path):
    (tmp_path / "tensorflow.py").write_text(NO_TENSORFLOW)
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}


def findings(report):
    """Of each task what each check has found: its status and what it said."""
    return {
        told["task"]: {
            (each["check"], each["status"]): each["said"]
            for each in told["findings"]
            if each["status"] != "ok"
        }
        for told in report["told"]
    }


def test_alone_it_says_what_would_run(tmp_path):
    done = run_alone(["-m", "tfdist", "doctor", f"--checkpoint_dir={tmp_path}"])
    assert done.returncode == 0, done
    assert "strategy: mirrored, because one process has 1 CPU device" in done.stdout
    assert "ok    devices            TensorFlow sees 1 CPU" in done.stdout
    assert "not seen" not in done.stdout
    assert done.stdout.splitlines()[-1].startswith("verdict: a training runs")


def test_two_tasks_that_agree(tmp_path):
    words = ["-m", "tfdist.doctor", "--json", "--numeric", f"--checkpoint_dir={tmp_path}/new"]
    first, second = run_tasks(words, workers=2, timeout_seconds=180)
    assert (first.returncode, second.returncode, second.stdout) == (0, 0, ""), first
    report = json.loads(first.stdout)
    assert report["strategy"]["name"] == "multi_worker"
    assert [told["task"] for told in report["told"]] == ["worker 0", "worker 1"]
    for told in report["told"]:
        checks = {each["check"]: each["said"] for each in told["findings"]}
        assert checks["numeric"] == (
            "a small model has the same weights on 2 workers and on one device"
        )
        assert "and the same for all 2 tasks" in checks["checkpoint folder"]
        (wire,) = told["wires"]
        assert 0 < wire["round_trip_seconds"] < 1
        assert abs(wire["clock_seconds"]) < 1
        assert wire["bytes_per_second"] > 1e6
    assert list(tmp_path.iterdir()) == []


def test_two_tasks_that_differ(tmp_path, without_tensorflow):
    results = run_tasks(DIFFERENT.replace("FOLDER", str(tmp_path)), env=without_tensorflow)
    assert [result.returncode for result in results] == [1, 1], results
    found = findings(json.loads(results[0].stdout))
    for index, other in ((0, 1), (1, 0)):
        own = found[f"worker {index}"]
        assert own["devices", "fail"].endswith("ImportError: no TensorFlow here")
        assert own["checkpoint folder", "fail"] == (
            f"does not see in {tmp_path}/{index} what worker {other} wrote there"
        )
        assert own["agreement", "warn"] == "XLA_FLAGS is 0 on worker 0 and 1 on worker 1"
    assert found["worker 0"]["clocks", "warn"] == "that of worker 1 is 60.0 s ahead"
    assert ("clocks", "warn") not in found["worker 1"]


def test_alone_in_a_cluster_it_says_what_it_could_not_see(tmp_path, without_tensorflow):
    file = tmp_path / "cluster.json"
    jobs = {"worker": ["192.0.2.77:21001", "no.such.host.invalid:21001"]}
    file.write_text(json.dumps({"cluster": jobs, "task": {"type": "worker", "index": 0}}))
    words = ["-m", "tfdist.doctor", f"--tf_config={file}", "--wait_seconds=1"]
    done = run_alone(words, env={**without_tensorflow, "http_proxy": "http://proxy:3128"})
    assert done.returncode == 1
    assert f"this process, from {file}" in done.stdout
    assert "strategy: multi_worker, because 2 workers in the cluster" in done.stdout
    for check in ("names", "proxies", "reach", "devices"):
        assert f"fail  {check}" in done.stdout
    assert "not seen: worker 0 waited 1 s in vain for worker 1" in done.stdout
    assert done.stdout.endswith("\nverdict: no training runs until this is mended: 4 failures\n")


def test_a_cluster_that_cannot_be_understood_is_a_failure(without_tensorflow):
    done = run_alone(["-m", "tfdist.doctor"], env={**without_tensorflow, "TF_CONFIG": "{"})
    assert done.returncode == 1
    assert "strategy: none fits, because the cluster is not understood" in done.stdout
    assert "fail  cluster   TF_CONFIG: it is not JSON" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--wait_seconds=0"], "--wait_seconds is 0.0, but must be more than 0\n"),
        (["--tf_config=/no/file"], "--tf_config cannot be read ([Errno 2] No such file"),
        (["--numerics"], "--numerics is no flag; did you mean '--numeric'?\n"),
    ],
)
def test_wrong_usage(words, said):
    done = run_alone(["-m", "tfdist.doctor", *words])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(said)
