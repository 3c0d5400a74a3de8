"""Each recipe's files for compose, Slurm and Kubernetes are valid and what the launcher makes."""

from pathlib import Path

import kubernetes_validate
import pytest
import yaml

from tfdist.cluster import Task, resolve
from tfdist.launch.__main__ import main

STRATEGIES = Path(__file__).resolve().parent.parent.parent / "strategies"
ALONE = [Task("worker", 0)]
TASKS = {
    "mirrored": ALONE,
    "central_storage": ALONE,
    "multi_worker": [Task("worker", 0), Task("worker", 1)],
    "parameter_server": [Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)],
}
SIZES = {1: ["--workers=1"], 2: ["--workers=2"], 4: ["--workers=2", "--chief", "--ps=1"]}
each_recipe = pytest.mark.parametrize("name", TASKS)


def printed(capsys, name, *flags, command):
    """What the launcher prints for the tasks of a recipe."""
    job = f"--job_name={name.replace('_', '-')}"
    assert main([*SIZES[len(TASKS[name])], job, *flags, "--dry_run", "--", *command]) == 0
    return capsys.readouterr().out


def test_every_recipe_is_here():
    assert {each.parent.name for each in STRATEGIES.glob("*/train.flags")} == set(TASKS)


@each_recipe
def test_the_manifest_is_what_the_launcher_prints(capsys, name):
    # The image has no folder of recipes, so that the manifest spells the flags out.
    command = ["tfdist", "train", *(STRATEGIES / name / "train.flags").read_text().split()]
    flags = ["--submit=kubernetes", "--image=tfdist"]
    made = printed(capsys, name, *flags, command=command)
    assert made == (STRATEGIES / name / "kubernetes.yaml").read_text()


@each_recipe
def test_the_manifest_is_valid_and_its_pods_are_the_tasks(name):
    found = list(yaml.safe_load_all((STRATEGIES / name / "kubernetes.yaml").read_text()))
    for each in found:
        kubernetes_validate.validate(each, kubernetes_validate.latest_version(), strict=True)
    job = found[1]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    env = {each["name"]: each["value"] for each in container["env"]}
    host = job["metadata"]["name"]
    pods = [
        {**env, "JOB_COMPLETION_INDEX": str(i), "HOSTNAME": f"{host}-{i}"}
        for i in range(job["spec"]["completions"])
    ]
    assert [resolve(pod).task for pod in pods] == TASKS[name]


@each_recipe
def test_the_batch_script_is_what_the_launcher_prints(capsys, name):
    command = ["tfdist", "train", f"--flagfile=strategies/{name}/train.flags"]
    flags = ["--submit=slurm", "--submit_options=--chdir=."]
    made = printed(capsys, name, *flags, command=command)
    assert made == (STRATEGIES / name / "slurm.sh").read_text()
    assert made.count("--chdir") == 1


@each_recipe
def test_the_services_are_the_tasks_of_one_cluster(name):
    services = yaml.safe_load((STRATEGIES / name / "compose.yaml").read_text())["services"]
    for service in services.values():
        assert service["command"] == ["train", "--flagfile=train.flags"]
        assert service["volumes"] == ["./train.flags:/home/tfdist/train.flags:ro"]
        build = (STRATEGIES / name / service["build"]["context"]).resolve()
        assert (build / service["build"]["dockerfile"]).is_file()
    if TASKS[name] == ALONE:
        assert [each.get("environment") for each in services.values()] == [None]
        return
    clusters = {each: resolve(service["environment"]) for each, service in services.items()}
    assert [each.task for each in clusters.values()] == TASKS[name]
    for service, cluster in clusters.items():
        assert services[service]["hostname"] == service
        assert cluster.address(cluster.task) == f"{service}:2222"
        assert cluster.jobs == next(iter(clusters.values())).jobs
