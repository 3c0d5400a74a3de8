import pytest

from tfdist.cluster import Cluster, Task
from tfdist.errors import UsageError
from tfdist.factory import NAMES, choose, explain
from tfdist.factory.devices import Devices

GB = 10**9
ONE_CPU = Devices("CPU", 1, 16 * GB, 16 * GB)
TWO_CPUS = Devices("CPU", 2, 8 * GB, 16 * GB)
ONE_GPU = Devices("GPU", 1, 8 * GB, 64 * GB)
FOUR_GPUS = Devices("GPU", 4, 8 * GB, 64 * GB)
UNKNOWN_GPUS = Devices("GPU", 2)


def cluster(task="worker", index=0, **sizes):
    ports = iter(range(2000, 2100))
    jobs = {job: {i: f"localhost:{next(ports)}" for i in range(n)} for job, n in sizes.items()}
    return Cluster(jobs, Task(task, index), "TF_CONFIG")


ALONE = Cluster()
ONE_WORKER = cluster(worker=1)
TWO_WORKERS = cluster(worker=2)
CHIEF_AND_WORKER = cluster("chief", chief=1, worker=1)
WITH_PS = cluster("chief", chief=1, worker=2, ps=1)
EVALUATOR = cluster("evaluator", worker=2)
PS_EVALUATOR = cluster("evaluator", chief=1, worker=2, ps=1)


@pytest.mark.parametrize(
    ("where", "devices", "needs_bytes", "name", "reason"),
    [
        (ALONE, ONE_CPU, None, "mirrored", "one process has 1 CPU device"),
        (ALONE, TWO_CPUS, None, "mirrored", "one process has 2 CPU devices"),
        (ALONE, FOUR_GPUS, None, "mirrored", "one process has 4 GPU devices"),
        (ALONE, FOUR_GPUS, 8 * GB, "mirrored", "one process has 4 GPU devices"),
        (ALONE, FOUR_GPUS, 9 * GB, "central_storage", "9.0 GB of variables and slots do not fit"),
        (ALONE, ONE_GPU, 9 * GB, "central_storage", "and fit on the host"),
        (ALONE, FOUR_GPUS, 65 * GB, "mirrored", "nor on the host (64.0 GB)"),
        (ALONE, TWO_CPUS, 9 * GB, "central_storage", "one process has 2 CPU devices"),
        (ALONE, TWO_CPUS, 17 * GB, "mirrored", "nor on the host (16.0 GB)"),
        (ALONE, ONE_CPU, 9 * GB, "mirrored", "one process has 1 CPU device"),
        (ALONE, UNKNOWN_GPUS, 900 * GB, "mirrored", "one process has 2 GPU devices"),
        (ONE_WORKER, TWO_CPUS, None, "mirrored", "one process has 2 CPU devices"),
        (TWO_WORKERS, ONE_CPU, None, "multi_worker", "2 workers in the cluster"),
        (TWO_WORKERS, FOUR_GPUS, 9 * GB, "multi_worker", "2 workers in the cluster"),
        (CHIEF_AND_WORKER, ONE_CPU, None, "multi_worker", "2 workers in the cluster"),
        (WITH_PS, ONE_CPU, None, "parameter_server", "1 ps task in the cluster"),
        (EVALUATOR, TWO_CPUS, None, "mirrored", "an evaluator works alone, and one process has 2"),
        (PS_EVALUATOR, ONE_CPU, None, "mirrored", "an evaluator works alone"),
    ],
)
def test_auto(where, devices, needs_bytes, name, reason):
    choice = choose("auto", where, devices, needs_bytes)
    assert choice.name == name
    assert reason in choice.reason


@pytest.mark.parametrize(
    ("name", "where", "devices"),
    [
        ("one_device", ALONE, ONE_CPU),
        ("one_device", ALONE, FOUR_GPUS),
        ("mirrored", ALONE, TWO_CPUS),
        ("mirrored", ONE_WORKER, TWO_CPUS),
        ("mirrored", EVALUATOR, TWO_CPUS),
        ("central_storage", ALONE, TWO_CPUS),
        ("central_storage", ALONE, ONE_GPU),
        ("multi_worker", ONE_WORKER, ONE_CPU),
        ("multi_worker", TWO_WORKERS, FOUR_GPUS),
        ("parameter_server", WITH_PS, ONE_CPU),
    ],
)
def test_by_name(name, where, devices):
    choice = choose(name, where, devices)
    assert (choice.name, choice.reason) == (name, "it was asked for by name")


@pytest.mark.parametrize("name", ["multi_worker", "parameter_server"])
def test_an_evaluator_may_be_started_with_the_flags_of_the_others(name):
    assert choose(name, PS_EVALUATOR, TWO_CPUS).name == "mirrored"


@pytest.mark.parametrize(
    ("name", "where", "devices", "message"),
    [
        ("horovod", ALONE, ONE_CPU, "'horovod' is unknown: choose one of auto, one_device"),
        ("mirrored", TWO_WORKERS, ONE_CPU, "TF_CONFIG describes a cluster of 2 workers: use multi"),
        ("one_device", TWO_WORKERS, ONE_CPU, "a cluster of 2 workers: use multi_worker, or start"),
        ("central_storage", WITH_PS, ONE_CPU, "2 workers and 1 ps task: use parameter_server"),
        ("multi_worker", ALONE, ONE_CPU, "needs a cluster and there is none: set TF_CONFIG"),
        ("multi_worker", WITH_PS, ONE_CPU, "TF_CONFIG has 1 ps task, for which its workers would"),
        ("multi_worker", TWO_WORKERS, TWO_CPUS, "cpu:2 splits the CPU: leave devices out"),
        ("parameter_server", ALONE, ONE_CPU, "and there is no cluster: start them with TF_CONFIG"),
        ("parameter_server", TWO_WORKERS, ONE_CPU, "TF_CONFIG has no ps task: add one"),
        ("auto", TWO_WORKERS, TWO_CPUS, "'multi_worker' was chosen, but each of its workers"),
        ("auto", WITH_PS, TWO_CPUS, "'parameter_server' was chosen, but each of its workers"),
    ],
)
def test_refused(name, where, devices, message):
    with pytest.raises(UsageError, match=message):
        choose(name, where, devices)


@pytest.mark.parametrize("where", [ALONE, ONE_WORKER, TWO_WORKERS, WITH_PS, EVALUATOR])
def test_every_other_strategy_is_refused_with_a_reason(where):
    choice = choose("auto", where, ONE_CPU)
    assert set(choice.refused) == set(NAMES) - {"auto", choice.name}
    assert all(choice.refused.values())


def test_explain_gives_the_choice_the_reason_and_why_not_the_others():
    assert explain(choose("auto", TWO_WORKERS, ONE_CPU)).splitlines() == [
        "strategy: multi_worker, because 2 workers in the cluster",
        "  not one_device or mirrored or central_storage: it runs in one process and TF_CONFIG "
        "describes a cluster of 2 workers: use multi_worker, or start one process without the "
        "cluster",
        "  not parameter_server: TF_CONFIG has no ps task: add one to the cluster, or use "
        "multi_worker",
    ]


def test_what_was_passed_over_for_a_name_says_so():
    refused = choose("mirrored", ALONE, ONE_CPU).refused
    assert refused["one_device"] == "mirrored was asked for"
    assert refused["multi_worker"].startswith("it needs a cluster")


def test_a_choice_cannot_be_changed():
    with pytest.raises(TypeError):
        choose("auto", ALONE, ONE_CPU).refused["mirrored"] = "because"
