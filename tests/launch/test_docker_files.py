"""The container files are clean, safe and describe one cluster; no image is built here."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from compose_spec import PyCompose

from tests.processes import run_alone
from tfdist.cluster import Task, resolve
from tfdist.run.flags import parse
from tfdist.run.settings import Settings

ROOT = Path(__file__).resolve().parent.parent.parent
DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text()


def test_the_dockerfile_is_clean():
    hadolint = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [hadolint, "--failure-threshold=style", DOCKER / "Dockerfile"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_is_pinned_has_no_root_and_a_health_check():
    assert re.search(r"^FROM python:\d+\.\d+\.\d+-\S+$", DOCKERFILE, re.MULTILINE)
    assert all(
        "==" in word
        for word in re.findall(r"RUN pip install (.*[^\\])$", DOCKERFILE, re.M)[0].split()
    )
    assert re.findall(r"^USER (\w+)$", DOCKERFILE, re.MULTILINE) == ["1000"]
    assert '["python", "-m", "tfdist.cluster", "--print"]' in DOCKERFILE


def test_what_is_copied_is_there_and_not_ignored():
    kept = (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
    for words in re.findall(r"^COPY (.*) \S+$", DOCKERFILE, re.MULTILINE):
        for name in words.split():
            assert (ROOT / name).exists()
            assert f"!{name}" in kept


@pytest.mark.parametrize(
    "file",
    [*DOCKER.glob("compose*.yaml"), *ROOT.glob("strategies/*/compose.yaml")],
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_a_compose_file_is_one_by_its_specification(file):
    content = yaml.safe_load(file.read_text())
    found = PyCompose.from_json(json.dumps(content))
    assert set(found.service_names()) == set(content["services"])
    next(iter(content["services"].values()))["imaje"] = "tfdist"
    with pytest.raises(ValueError, match="imaje"):
        PyCompose.from_json(json.dumps(content))


def services(name):
    """The services that are tasks."""
    found = yaml.safe_load((DOCKER / name).read_text())["services"]
    return {each: service for each, service in found.items() if "environment" in service}


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("compose.yaml", [Task("worker", 0), Task("worker", 1)]),
        (
            "compose.parameter_server.yaml",
            [Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)],
        ),
    ],
)
def test_the_services_are_the_tasks_of_one_cluster(name, tasks):
    found = services(name)
    clusters = {each: resolve(service["environment"]) for each, service in found.items()}
    assert [each.task for each in clusters.values()] == tasks
    for service, cluster in clusters.items():
        assert cluster.address(cluster.task) == f"{service}:2222"
        assert found[service]["hostname"] == service
        assert cluster.jobs == next(iter(clusters.values())).jobs
        door, *flags = found[service]["command"]
        assert door == "train"
        assert parse(Settings, flags).global_batch_size == 64


def test_tensorboard_reads_where_the_workers_write():
    content = yaml.safe_load((DOCKER / "compose.yaml").read_text())
    board = content["services"]["tensorboard"]
    folder = parse(Settings, services("compose.yaml")["worker0"]["command"][1:]).log_dir
    written = f"/home/tfdist/{folder}"
    assert f"--logdir={written}" in board["entrypoint"]
    assert board["volumes"] == [f"logs:{written}:ro"]
    assert services("compose.yaml")["worker0"]["volumes"] == [f"logs:{written}"]
    assert "install --directory --owner=tfdist " + written in DOCKERFILE


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("kubernetes.yaml", ["--submit=kubernetes", "--image=tfdist"]),
        ("kubernetes.jobset.yaml", ["--submit=kubernetes", "--kind=jobset", "--image=tfdist"]),
    ],
)
def test_the_manifests_are_what_the_launcher_prints(name, flags):
    words = ["--workers=2", *flags, "--dry_run", "--", "tfdist", "train", "--global_batch_size=64"]
    done = run_alone(["-m", "tfdist.launch", *words])
    assert done.stdout == (DOCKER / name).read_text(), done
