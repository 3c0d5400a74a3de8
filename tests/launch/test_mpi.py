"""Tasks as the ranks of a real mpirun."""

import signal

import pytest

from tests.launch import training
from tests.launch.launching import DEAF, environment, launch, launched, left, words
from tests.launch.training import TRAIN
from tests.processes import run_alone
from tests.transport.mpirun import mpirun
from tfdist.errors import UsageError
from tfdist.launch import mpi

FLAGS = ["--workers=1", "--chief", "--transport=mpi"]
PLACE = """
import os
from tfdist.cluster import resolve
cluster = resolve()
print(cluster.source, cluster.task, os.environ["OMP_NUM_THREADS"], os.environ["OMPI_MCA_x"])
"""
ONE_ENDS = """
import os, time
if os.environ["OMPI_COMM_WORLD_RANK"] == "0": time.sleep(600)
print("last words", flush=True)
END
"""
# After all have met, and MPI connects them.
MISTAKE = """
import tfdist
strategy = tfdist.strategy(transport="mpi")
if tfdist.factory.current().cluster.rank: raise tfdist.UsageError("mine")
import time; time.sleep(600)
"""


def test_each_rank_is_a_task_with_its_share_of_the_cores(tmp_path):
    flags = [*FLAGS, f"--log_dir={tmp_path}"]
    done = launch(PLACE, *flags, env={"OMPI_MCA_x": "5"})
    assert done.returncode == 0, done.stderr
    said = sorted(done.stdout.splitlines())
    assert [line.rsplit(" ", 2)[0] for line in said] == [
        "[chief 0] MPI chief 0",
        "[worker 0] MPI worker 0",
    ]
    assert {line.rsplit(" ", 1)[1] for line in said} == {"5"}
    assert (tmp_path / "worker-0.log").read_text().startswith("MPI worker 0 ")


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("raise SystemExit(3)", 3, "exit code 3"),
        ("os.kill(os.getpid(), 9)", 137, "killed by SIGKILL"),
    ],
)
def test_the_first_failure_is_told(end, code, said):
    done = launch(ONE_ENDS.replace("END", end), *FLAGS)
    assert done.returncode == code
    assert f"[launcher] worker 0 on this machine failed: {said}. Its last" in done.stderr
    assert "[launcher]   | last words" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_no_rank_outlives_the_launcher(number, code):
    with launched(DEAF, *FLAGS, "--grace_seconds=2", pids=2) as (launcher, ranks):
        launcher.send_signal(number)
        assert launcher.wait(20) == code
        assert left(ranks) == []


def test_a_training_over_mpi_has_the_numbers_of_one_device():
    command = [*words("", *FLAGS, "--role=chief")[1:-2], *TRAIN, "--transport=mpi"]
    done = run_alone(command, env=environment())
    assert done.returncode == 0, done
    training.check(done.stdout)


def test_mpirun_alone_trains_with_the_numbers_of_one_device(tmp_path):
    result = mpirun([*TRAIN, "--transport=mpi"], tmp_path)
    assert result.returncode == 0, result
    training.check(training.records(result.stdout))


def test_a_user_s_mistake_is_the_cause_though_mpi_ends_all():
    done = launch(MISTAKE, *FLAGS)
    assert done.returncode == 2, done.stderr
    assert "[launcher] worker 0 on this machine failed: exit code 2. Its last" in done.stderr
    assert "[launcher]   | mine\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_mpirun_it_is_said(monkeypatch):
    monkeypatch.setattr(mpi.shutil, "which", lambda *_, **__: None)
    with pytest.raises(UsageError, match="--transport=mpi needs mpirun, which is not on this mach"):
        mpi._mpirun()


def test_another_mpirun_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "mpirun"
    other.write_text("#!/bin/sh\necho HYDRA build details\n")
    other.chmod(0o755)
    monkeypatch.setattr(mpi.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(UsageError, match=f"{other} is not Open MPI's: give that one, or start"):
        mpi._mpirun()
