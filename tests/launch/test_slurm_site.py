"""What is submitted to Slurm runs there: a real one with two nodes."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.launch import training
from tests.launch.launching import DEAF, environment, launched, left
from tests.launch.slurm_site import slurm_site
from tests.launch.training import TRAIN

PLACE = "from tfdist.cluster import resolve; c = resolve(); print(c.source, c.tf_config())"
FAILS = """
import time
from tfdist.cluster import resolve
if resolve().is_chief: time.sleep(600)
print("bad luck")
raise SystemExit(3)
"""
FLAGS = ["--workers=1", "--chief", "--submit=slurm"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with slurm_site(tmp_path_factory.mktemp("slurm")) as variables:
        yield variables


def submit(site, code, *flags, before=()):
    return run([*FLAGS, *flags, "--", "-c", code], site, before)


def run(words, site, before=(), timeout=60):
    return subprocess.run(
        [*before, sys.executable, "-m", "tfdist.launch", *words],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=environment(site),
    )


def check_places(lines, names=("0:", "1:")):
    told = sorted(line for line in lines if "Slurm {" in line)
    assert [line.partition(" Slurm ")[0] for line in told] == list(names)
    configs = [json.loads(line.partition(" Slurm ")[2]) for line in told]
    assert [each["task"]["type"] for each in configs] == ["chief", "worker"]
    cluster = configs[0]["cluster"]
    assert configs[1]["cluster"] == cluster
    assert cluster["chief"][0].startswith("n1:")
    assert cluster["worker"][0].startswith("n2:")


def test_a_batch_job(site, tmp_path):
    options = "--submit_options=--nodes=2 --comment='two words'"
    done = submit(site, PLACE, options, f"--log_dir={tmp_path}")
    assert done.returncode == 0, done.stderr
    number = done.stdout.split()[-1]
    shown = ended(site, number)
    check_places((tmp_path / f"{number}.log").read_text().splitlines())
    assert "JobState=COMPLETED" in shown
    assert "Comment=two words" in shown


def ended(site, number, seconds=30):
    """What Slurm tells of a job once it has ended."""
    words = ["scontrol", "show", "job", number]
    for _ in range(10 * seconds):
        shown = subprocess.run(words, capture_output=True, text=True, env=environment(site)).stdout
        if not any(f"JobState={state}" in shown for state in ("PENDING", "RUNNING", "COMPLETING")):
            return shown
        time.sleep(0.1)
    raise TimeoutError(shown)


def test_a_step_inside_of_an_allocation(site, tmp_path):
    before = ["salloc", "--quiet", "--nodes=2", "--ntasks=2"]
    done = submit(site, PLACE, f"--log_dir={tmp_path}", before=before)
    assert done.returncode == 0, done.stderr
    check_places(done.stdout.splitlines(), ["[chief 0]", "[worker 0]"])
    assert '"type": "worker"' in (tmp_path / "worker-0.log").read_text()


def test_the_exit_code_of_a_batch_job_is_the_cause_s(site, tmp_path):
    done = submit(site, FAILS, "--submit_options=--nodes=2", f"--log_dir={tmp_path}")
    number = done.stdout.split()[-1]
    assert "ExitCode=3:0" in ended(site, number)
    log = (tmp_path / f"{number}.log").read_text()
    assert "task 1 on n2 failed first, with exit code 3" in log


@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_places_follow_the_distribution(site, distribution):
    # Three tasks, of which Slurm puts two on the first node.
    options = f"--submit_options=--nodes=2 --distribution={distribution}"
    before = ["salloc", "--quiet", "--nodes=2", "--ntasks=3"]
    done = submit(site, PLACE, "--workers=2", options, before=before)
    assert done.returncode == 0, done.stderr
    lines = sorted(line for line in done.stdout.splitlines() if "Slurm {" in line)
    cluster = json.loads(lines[0].partition(" Slurm ")[2])["cluster"]
    nodes = [address.partition(":")[0] for jobs in cluster.values() for address in jobs]
    assert nodes == {"block": ["n1", "n1", "n2"], "cyclic": ["n1", "n2", "n1"]}[distribution]
    assert len(lines) == 3


def test_a_batch_job_trains_with_the_numbers_of_one_device(site, tmp_path):
    flags = ["--workers=2", "--submit=slurm", "--submit_options=--nodes=2", f"--log_dir={tmp_path}"]
    number = run([*flags, "--", *TRAIN], site).stdout.split()[-1]
    shown = ended(site, number, seconds=150)
    log = (tmp_path / f"{number}.log").read_text()
    assert "JobState=COMPLETED" in shown, log
    training.check(training.records(log))


def test_a_cyclic_step_trains_with_the_numbers_of_one_device(site):
    flags = ["--workers=3", "--submit=slurm", "--submit_options=--nodes=2 --distribution=cyclic"]
    before = ["salloc", "--quiet", "--nodes=2", "--ntasks=3"]
    done = run([*flags, "--", *TRAIN], site, before, timeout=150)
    assert done.returncode == 0, done.stderr
    training.check(training.records(done.stdout), replicas=3)


def test_a_failure_ends_the_step_with_its_code(site):
    before = ["salloc", "--quiet", "--nodes=2", "--ntasks=2"]
    done = submit(site, FAILS, "--role=chief", before=before)
    assert done.returncode == 3
    assert "[launcher] worker 0 on n2 failed: exit code 3. Its last lines, of" in done.stderr
    assert "[launcher]   | bad luck" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_no_task_of_a_step_outlives_the_launcher(site, number, code):
    with allocation(site) as job:
        env = {**site, "SLURM_JOB_ID": job}
        with launched(DEAF, *FLAGS, pids=2, env=env) as (launcher, tasks):
            launcher.send_signal(number)
            assert launcher.wait(20) == code
            assert left(tasks) == []


@contextlib.contextmanager
def allocation(site):
    """The number of a job that has both nodes and no command."""
    words = ["salloc", "--no-shell", "--nodes=2", "--ntasks=2"]
    env = environment(site)
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, env=env)
    job = re.search(r"Granted job allocation (\d+)", done.stderr)[1]
    try:
        yield job
    finally:
        subprocess.run(["scancel", job], timeout=30, env=env, check=True)
