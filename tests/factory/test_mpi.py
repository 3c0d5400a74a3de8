import sys

import pytest

from tfdist.errors import UsageError
from tfdist.factory.mpi import check_places, check_started

_STARTED = {"OMPI_COMM_WORLD_SIZE": "2"}


def test_without_mpi4py(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(UsageError, match=r"not installed: pip install 'tfdist\[mpi\]'"):
        check_started(_STARTED)


def test_a_process_that_mpi_did_not_start():
    pytest.importorskip("mpi4py")
    with pytest.raises(UsageError, match="MPI did not start: start it by `mpirun -np N"):
        check_started({"TF_CONFIG": "{}"})


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"])
def test_a_process_that_mpi_started(name):
    pytest.importorskip("mpi4py")
    check_started({name: "2"})


def test_ranks_in_another_order_than_the_workers():
    check_places([(1, "worker 1", 2), (0, "worker 0", 2)])


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([(0, "worker 0", 2)], r"MPI started 1 rank \(worker 0\) and the cluster has 2 workers"),
        ([(0, "worker 0", 2)] * 2, r"started 2 ranks \(worker 0, worker 0\) and .* 2 workers"),
        ([(0, "worker 0", 2), (1, "worker 1", 3)], r"the cluster has 2 or 3 workers"),
    ],
)
def test_ranks_that_are_not_the_workers(places, told):
    with pytest.raises(UsageError, match=told):
        check_places(places)
