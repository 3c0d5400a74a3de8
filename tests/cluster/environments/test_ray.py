"""Ray Train's workers, with a stand-in for Ray and what the real one, 2.60, sets in a worker."""

import json
import sys
import threading
import weakref
from types import ModuleType, SimpleNamespace

import pytest

from tfdist.cluster import Task, resolve
from tfdist.cluster.environments import ray as environment
from tfdist.errors import StartAgainError, UsageError

ENV = {"RAY_JOB_ID": "01000000"}


class Context:
    def __init__(self, rank, size):
        self.get_world_rank = lambda: rank
        self.get_world_size = lambda: size
        self.get_experiment_name = lambda: "run"


class Board:
    """The named actor, called at once instead of remotely."""

    def __init__(self, board):
        self.put = SimpleNamespace(remote=board.put)


@pytest.fixture
def use_ray(monkeypatch):
    own = threading.local()  # each "worker process" is a thread of the test
    actors = {}

    def options(name, get_if_exists, num_cpus):
        assert get_if_exists
        assert num_cpus == 0
        return SimpleNamespace(remote=lambda: Board(actors.setdefault(name, environment._Board())))

    def get_context():
        if not hasattr(own, "context"):
            raise RuntimeError("not a worker")
        return own.context

    ray, train = ModuleType("ray"), ModuleType("ray.train")
    ray.remote = lambda _: SimpleNamespace(options=options)
    ray.get = dict
    ray.util = SimpleNamespace(get_node_ip_address=lambda: "10.0.0.9")
    ray.train, train.get_context = train, get_context
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.train", train)
    return own


def test_workers_tell_each_other_their_addresses(use_ray):
    clusters = {}

    def work(rank):
        use_ray.context = Context(rank, 3)
        clusters[rank] = resolve(ENV)

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [clusters[rank].task for rank in range(3)] == [Task("worker", r) for r in range(3)]
    assert clusters[0].jobs == clusters[1].jobs == clusters[2].jobs
    assert clusters[0].source == "Ray"
    assert len(set(clusters[0].jobs["worker"].values())) == 3
    assert clusters[0].address(Task("worker", 2)).startswith("10.0.0.9:")


def of_tensorflow_trainer(rank):
    """What a worker of TensorflowTrainer has; one of DataParallelTrainer has no TF_CONFIG."""
    cluster = {"worker": ["192.0.2.2:60307", "192.0.2.2:53887"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": rank}}
    own = {"RAY_RAYLET_PID": "12475", "RAY_AUTH_MODE": "token", "OMP_NUM_THREADS": "1"}
    return {**ENV, **own, "TF_CONFIG": json.dumps(config)}


def test_the_cluster_of_tensorflow_trainer_is_taken(use_ray):
    use_ray.context = Context(1, 2)
    cluster = resolve(of_tensorflow_trainer(1))
    assert (cluster.source, cluster.task) == ("TF_CONFIG", Task("worker", 1))
    assert cluster.address(Task("worker", 0)) == "192.0.2.2:60307"


def test_a_tf_config_of_another_job_is_refused(use_ray):
    use_ray.context = Context(0, 4)
    with pytest.raises(UsageError, match=r"worker 1 of 2 tasks, and Ray says .* rank 0 of 4"):
        resolve(of_tensorflow_trainer(1))


def test_a_worker_that_tells_nothing_is_named(use_ray, monkeypatch, capsys):
    monkeypatch.setattr(environment, "_WAIT_SECONDS", 0.5)
    monkeypatch.setattr(environment, "_SAY_EVERY_SECONDS", 0.2)
    use_ray.context = Context(0, 3)
    with pytest.raises(StartAgainError, match=r"^Ray: rank 1, rank 2 told no address in 0 s"):
        resolve(ENV)
    assert "tfdist: rank 0 has waited 0 of 0 s for rank 1, rank 2\n" in capsys.readouterr().err


def test_the_board_outlives_the_call(use_ray, monkeypatch):
    # With the last handle in its maker's process the actor would end before the others have read.
    made = []
    monkeypatch.setattr(Board, "__init__", lambda self, board: made.append(weakref.ref(self)))
    monkeypatch.setattr(
        Board, "put", SimpleNamespace(remote=lambda *_: {0: "h:1", 1: "h:2"}), raising=False
    )
    use_ray.context = Context(0, 2)
    assert resolve(ENV).num_workers == 2
    assert made[0]() is not None


def test_one_worker_is_alone(use_ray):
    use_ray.context = Context(0, 1)
    assert resolve(ENV).is_local


def test_a_ray_process_that_is_no_training_worker_is_alone(use_ray):
    assert resolve(ENV).is_local


def test_without_ray_nothing_is_imported():
    assert resolve(ENV).is_local
