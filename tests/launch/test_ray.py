"""Tasks as actors of a real Ray on this machine."""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from tests.launch import training
from tests.launch.launching import DEAF, ROLE, environment, launch, launched, left, words
from tests.launch.training import TRAIN
from tests.processes import hold_ports

FLAGS = ["--workers=2", "--submit=ray"]
FAILS = (
    ROLE
    + """
if ROLE == "worker 0": time.sleep(600)
print(os.environ["TF_X"], os.environ["OMP_NUM_THREADS"], flush=True)
os.kill(os.getpid(), 9)
"""
)


@pytest.fixture(scope="module")
def ray():
    """The variables by which the launcher finds a Ray that has two cores."""
    folder = tempfile.mkdtemp(prefix="ray")  # its sockets want a short name
    with hold_ports(1) as ports:
        variables = {"RAY_ADDRESS": f"127.0.0.1:{ports[0]}", "RAY_AUTH_MODE": "disabled"}
        words = [Path(sys.executable).with_name("ray"), "start", "--head", "--block"]
        words += [f"--port={ports[0]}", f"--temp-dir={folder}", "--num-cpus=2"]
        words += ["--include-dashboard=false", "--disable-usage-stats"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment(variables)) as head:
            try:
                _wait_until_it_is_up(Path(folder))
                yield variables
            finally:
                processes = psutil.Process(head.pid).children(recursive=True)
                head.terminate()
                psutil.wait_procs(processes, timeout=20)
                for each in processes:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        each.kill()
    shutil.rmtree(folder, ignore_errors=True)


def _wait_until_it_is_up(folder):
    deadline = time.monotonic() + 60
    while not list(folder.glob("session_latest/sockets/raylet*")):
        if time.monotonic() > deadline:
            raise TimeoutError("Ray does not start")
        time.sleep(0.1)


def test_a_training_has_the_numbers_of_one_device(ray):
    command = [*words("", *FLAGS, "--role=chief")[:-2], *TRAIN]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=150, env=environment(ray)
    )
    assert done.returncode == 0, done.stderr
    training.check(done.stdout)


def test_the_first_failure_is_told(ray):
    done = launch(FAILS, *FLAGS, env={**ray, "TF_X": "7"})
    assert done.returncode == 137
    assert "[launcher] worker 1 on Ray's bundle 1 failed: killed by SIGKILL" in done.stderr
    assert "[launcher]   | 7 1" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_no_task_outlives_the_launcher(ray, number, code):
    with launched(DEAF, *FLAGS, "--grace_seconds=1", pids=2, env=ray) as (launcher, tasks):
        launcher.send_signal(number)
        assert launcher.wait(20) == code
        assert left(tasks) == []


def test_what_would_be_started_is_printed():
    options = "--submit_options=CPU=2 GPU=1"
    printed = json.loads(launch("pass", *FLAGS, options, "--dry_run").stdout)
    assert printed["placement_group"]["bundles"] == [{"CPU": 2.0, "GPU": 1.0}] * 2
    assert printed["command"] == [sys.executable, "-c", "pass"]


def test_an_address_without_ray_is_said():
    done = launch("pass", *FLAGS, env={"RAY_ADDRESS": "127.0.0.1:1"})
    assert done.returncode == 2
    assert "RAY_ADDRESS is 127.0.0.1:1, where no Ray answers" in done.stderr
