"""What the doctor measures between two network namespaces, one of which has a slow cable."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import tfdist
from tests.launch.launching import environment, words
from tests.launch.network import network

ROOT = Path(tfdist.__file__).parent.parent
SHAPE = [
    "tc",
    "qdisc",
    "add",
    "dev",
    "eth0",
    "root",
    "tbf",
    "rate",
    "100mbit",
    "burst",
    "64kb",
    "latency",
    "50ms",
]


@pytest.fixture
def hosts(tmp_path):
    with network(tmp_path) as made:
        subprocess.run([*made.inside[1], *SHAPE], check=True, timeout=20)
        yield made


def test_a_slow_way_is_measured_and_told(hosts, tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('not needed here')\n")
    flags = ["--hosts=first,second", f"--ssh={hosts.ssh}", "--role=chief"]
    command = [*hosts.outside, *words("", *flags)[:-2], "-m", "tfdist.doctor", "--json"]
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment({"PYTHONPATH": path}),
    )
    report = json.loads(done.stdout.splitlines()[-1].removeprefix("[worker 0] "))
    _, second = report["told"]
    (wire,) = second["wires"]
    assert (wire["end"], wire["problem"]) == ("worker 0", "")
    assert 4e6 < wire["bytes_per_second"] < 14e6  # 100 Mbit/s are 12.5 MB/s
    told = {each["check"]: each for each in second["findings"] if each["status"] == "warn"}
    assert told["network"]["said"].startswith("100 MB of gradients take ")
    assert told["network"]["said"].endswith(" s to worker 0")
