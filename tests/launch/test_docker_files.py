"""The container files are clean, safe and describe one cluster; no image is built here."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

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


def test_the_services_are_the_tasks_of_one_cluster():
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    clusters = {name: resolve(each["environment"]) for name, each in services.items()}
    assert [each.task for each in clusters.values()] == [Task("worker", 0), Task("worker", 1)]
    for name, cluster in clusters.items():
        assert cluster.address(cluster.task) == f"{name}:2222"
        assert services[name]["hostname"] == name
        assert cluster.jobs == clusters["worker0"].jobs


def test_the_services_run_a_command_that_there_is():
    services = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]
    for each in services.values():
        door, *flags = each["command"]
        assert door == "train"
        assert parse(Settings, flags).global_batch_size == 64
