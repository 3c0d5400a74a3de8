"""MPI. The environments are those that OpenMPI 5, MPICH 5's hydra and srun were seen to set."""

import os
import sys
from types import SimpleNamespace

import pytest

from tfdist.cluster import Task, resolve
from tfdist.errors import UsageError

STEP = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1"}


def openmpi(rank=0, size=3, local_size=3, job="prterun-vm-1526@1"):
    return {
        "OMPI_COMM_WORLD_RANK": str(rank),
        "OMPI_COMM_WORLD_SIZE": str(size),
        "OMPI_COMM_WORLD_LOCAL_SIZE": str(local_size),
        "PMIX_RANK": str(rank),
        "PMIX_NAMESPACE": job,
    }


def hydra(rank=0, size=3, local_size=3):
    return {
        "PMI_RANK": str(rank),
        "PMI_SIZE": str(size),
        "MPI_LOCALNRANKS": str(local_size),
        "MPI_LOCALRANKID": str(rank),
    }


@pytest.mark.parametrize("launcher", [openmpi, hydra])
def test_one_host(launcher):
    clusters = [resolve(launcher(rank)) for rank in range(3)]
    assert [cluster.task for cluster in clusters] == [Task("worker", rank) for rank in range(3)]
    assert clusters[0].source == "MPI"
    assert clusters[0].jobs == clusters[1].jobs == clusters[2].jobs
    addresses = list(clusters[0].jobs["worker"].values())
    assert len(set(addresses)) == 3
    assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_two_jobs_on_a_host_have_other_ports():
    first, second = resolve(openmpi(job="a")), resolve(openmpi(job="b"))
    assert not {*first.jobs["worker"].values()} & {*second.jobs["worker"].values()}


def test_roles():
    assert resolve({**openmpi(2), "TFDIST_TASKS": "chief=1,worker=1,ps=1"}).task == Task("ps", 0)


ALONE = {
    "mpirun -np 1": openmpi(size=1, local_size=1),
    "mpiexec -n 1": hydra(size=1, local_size=1),
    "a PMI of one": {"PMI_RANK": "0", "PMI_SIZE": "1"},
    "mpirun -np 1 in a batch script for 4": {
        **openmpi(size=1, local_size=1),
        "SLURM_JOB_ID": "1",
        "SLURM_NTASKS": "4",
    },
    "srun --mpi=pmix -n1": {**STEP, "SLURM_JOB_ID": "1", "PMIX_RANK": "0"},
}


@pytest.mark.parametrize("name", ALONE)
def test_one_rank_is_alone(name):
    assert resolve(ALONE[name]).is_local


@pytest.mark.parametrize("launcher", [openmpi, hydra])
def test_mpirun_inside_of_a_slurm_allocation_is_followed(launcher):
    # mpirun starts its daemons with srun: the step that the ranks see is the daemons'.
    slurm = {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "3", "SLURM_PROCID": "0"}
    daemons = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    cluster = resolve({**slurm, **daemons, **launcher(1)})
    assert (cluster.source, cluster.task) == ("MPI", Task("worker", 1))


def test_the_pmi_of_srun_is_slurm():
    slurm = {
        "SLURM_JOB_ID": "6",
        "SLURM_STEP_ID": "0",
        "SLURM_STEP_NODELIST": "n[2,7]",
        "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_PROCID": "1",
        "SLURM_NODEID": "1",
    }
    cluster = resolve({**slurm, "PMI_RANK": "1", "PMI_SIZE": "2", "PMI_JOBID": "6.0"})
    assert cluster.source == "Slurm"


SEVERAL_HOSTS = {
    "OpenMPI": openmpi(1, size=3, local_size=2),
    "hydra": hydra(1, size=3, local_size=2),
    "PMI": {"PMI_RANK": "1", "PMI_SIZE": "3"},
    "PMIx": {"PMIX_RANK": "1"},
}


@pytest.mark.parametrize("name", SEVERAL_HOSTS)
def test_several_hosts_without_mpi4py_are_refused(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(UsageError) as caught:
        resolve(SEVERAL_HOSTS[name])
    assert str(caught.value) == (
        "MPI: the ranks run on several hosts and mpirun does not say which; install tfdist[mpi], "
        "which asks MPI, or describe the cluster in TF_CONFIG."
    )


def use_mpi4py(monkeypatch, hosts, rank):
    """A stand-in for mpi4py; the real one is MPI's business."""
    world = SimpleNamespace(
        Get_size=lambda: len(hosts),
        Get_rank=lambda: rank,
        allgather=lambda own: [
            (host, own[1] if r == rank else 5000 + r) for r, host in enumerate(hosts)
        ],
    )
    module = SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=world))
    monkeypatch.setitem(sys.modules, "mpi4py", module)


@pytest.mark.parametrize("name", SEVERAL_HOSTS)
def test_several_hosts_with_mpi4py(name, monkeypatch):
    use_mpi4py(monkeypatch, ["h1", "h1", "h2"], 1)
    cluster = resolve(SEVERAL_HOSTS[name])
    assert cluster.task == Task("worker", 1)
    assert cluster.address(Task("worker", 0)) == "h1:5000"
    assert cluster.address(Task("worker", 2)) == "h2:5002"
    assert cluster.address(cluster.task).startswith("h1:")
    assert cluster.origins["hosts and ports"] == "mpi4py, from each rank"


def test_an_mpi4py_of_another_mpi_is_refused(monkeypatch):
    use_mpi4py(monkeypatch, ["h1"], 0)
    with pytest.raises(UsageError, match="mpirun started 3 ranks and mpi4py sees 1, because it"):
        resolve(SEVERAL_HOSTS["OpenMPI"])


def test_the_job_of_a_hydra_is_its_proxy(monkeypatch):
    import psutil

    parents = [SimpleNamespace(name=lambda: "sh", pid=3)]
    parents.append(SimpleNamespace(name=lambda: "hydra_pmi_proxy", pid=os.getpid()))
    monkeypatch.setattr(psutil.Process, "parents", lambda _: parents)
    assert resolve(hydra()).origins["ports"] == f"hydra_pmi_proxy {os.getpid()}"
