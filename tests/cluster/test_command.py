"""python -m tfdist.cluster: a real process, its output and its exit code."""

import json
import os
import subprocess
import sys
import time

import pytest

TWO = '{"cluster": {"worker": ["h1:1", "h2:1"]}, "task": {"type": "worker", "index": "1"}}'


def run(*arguments, **variables):
    env = {"PATH": os.environ["PATH"], **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


def test_prints_the_cluster():
    done = run("-m", "tfdist.cluster", "--print", TF_CONFIG=TWO)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "cluster": {"worker": ["h1:1", "h2:1"]},
        "task": {"type": "worker", "index": 1},
    }
    assert "this process is worker 1, rank 1 of 2 that train" in done.stderr
    assert "cluster from TF_CONFIG" in done.stderr
    assert "task from TF_CONFIG" in done.stderr


def test_prints_one_machine():
    done = run("-m", "tfdist.cluster", "--print")
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == "this machine alone: nothing describes a cluster\n"


ROLES = [
    ("chief", "chief 0, which coordinates 2 workers and 1 ps"),
    ("worker", "worker 0, which serves chief 0"),
    ("ps", "ps 0, which serves chief 0"),
    ("evaluator", "evaluator 0, which evaluates beside the training"),
]


@pytest.mark.parametrize(("job", "said"), ROLES)
def test_says_the_role(job, said):
    cluster = {"chief": ["h1:1"], "worker": ["h2:1", "h3:1"], "ps": ["h4:1"]}
    config = json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})
    assert said in run("-m", "tfdist.cluster", "--print", TF_CONFIG=config).stderr


def test_says_the_notes():
    config = '{"cluster": {"master": ["h1:1"]}, "task": {"type": "master", "index": 0}}'
    done = run("-m", "tfdist.cluster", "--print", TF_CONFIG=config)
    assert 'names a "master": it is the chief here' in done.stderr


def test_bad_tf_config_is_one_line_and_exit_2_at_once():
    seconds = []
    for _ in range(3):  # the best of three: other work on the machine is not what is measured
        start = time.monotonic()
        done = run("-m", "tfdist.cluster", "--print", TF_CONFIG="")
        seconds.append(time.monotonic() - start)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("TF_CONFIG: it is empty; unset it")
    assert done.stderr.count("\n") == 1
    assert min(seconds) < 1


def test_wrong_flag_is_exit_2():
    assert run("-m", "tfdist.cluster").returncode == 2
    assert run("-m", "tfdist.cluster", "--nonsense").returncode == 2


def test_imports_no_tensorflow():
    code = "import sys, tfdist.cluster, tfdist.cluster.__main__; print('tensorflow' in sys.modules)"
    assert run("-c", code).stdout == "False\n"
