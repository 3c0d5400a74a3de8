import pytest

from tfdist.cluster import Cluster, Task
from tfdist.errors import UsageError
from tfdist.factory.seeds import agreed, check


def cluster(task="worker", **jobs):
    ports = iter(range(2000, 2100))
    addresses = {job: {i: f"localhost:{next(ports)}" for i in range(n)} for job, n in jobs.items()}
    return Cluster(addresses, Task(task, 0))


@pytest.mark.parametrize(
    ("where", "given", "used"),
    [
        (Cluster(), None, None),
        (Cluster(), 5, 5),
        (cluster(worker=2), None, 0),
        (cluster(worker=2), 5, 5),
        (cluster(worker=1), None, None),
        (cluster("chief", chief=1, worker=2, ps=1), None, None),
        (cluster("evaluator", worker=2), None, None),
    ],
)
def test_only_workers_that_run_the_same_script_are_given_a_seed(where, given, used):
    assert agreed(given, where) == used


@pytest.mark.parametrize("seed", [None, 0, 2**32 - 1])
def test_seeds(seed):
    check(seed)


@pytest.mark.parametrize("seed", [-1, 2**32, 1.0, "1", True])
def test_what_is_no_seed(seed):
    with pytest.raises(UsageError, match="use a whole number from 0 to 2"):
        check(seed)
