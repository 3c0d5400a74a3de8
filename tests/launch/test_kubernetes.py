"""The manifest is valid, and its pods find their cluster."""

import kubernetes_validate
import pytest
import yaml

from tfdist.cluster import Task, resolve
from tfdist.launch.__main__ import main

FLAGS = ["--submit=kubernetes", "--image=registry.example.org/digits:1", "--dry_run"]
COMMAND = ["--", "-m", "tfdist.train", '--note="a: b"']


def rendered(capsys, *flags):
    assert main([*FLAGS, *flags, *COMMAND]) == 0
    service, job = yaml.safe_load_all(capsys.readouterr().out)
    return service, job


@pytest.mark.parametrize("flags", [["--workers=4"], ["--workers=2", "--chief", "--ps=1"]])
@pytest.mark.parametrize("version", ["1.31", kubernetes_validate.latest_version()])
def test_it_is_valid(capsys, flags, version):
    for each in rendered(capsys, *flags):
        kubernetes_validate.validate(each, version, strict=True)


def test_each_pod_finds_its_cluster(capsys):
    service, job = rendered(capsys, "--workers=2", "--chief", "--ps=1", "--job_name=fit")
    template = job["spec"]["template"]["spec"]
    (container,) = template["containers"]
    env = {each["name"]: each["value"] for each in container["env"]}
    # What Kubernetes gives to the pods of an Indexed Job.
    pods = [
        {**env, "JOB_COMPLETION_INDEX": str(i), "HOSTNAME": f"fit-{i}"}
        for i in range(job["spec"]["completions"])
    ]
    clusters = [resolve(pod) for pod in pods]
    tasks = [Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)]
    assert [each.task for each in clusters] == tasks
    addresses = [clusters[0].address(task) for task in tasks]
    assert addresses == [f"fit-{i}.{template['subdomain']}:2222" for i in range(4)]
    assert service["metadata"]["name"] == template["subdomain"]
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": job["metadata"]["name"]}
    assert service["spec"]["clusterIP"] == "None"


def test_the_command_and_the_image_are_as_given(capsys):
    _, job = rendered(capsys, "--workers=2")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python", *COMMAND[1:]]
    assert container["image"] == "registry.example.org/digits:1"


def test_restarts_are_those_of_the_group(capsys):
    _, job = rendered(capsys, "--workers=3", "--max_restarts=2")
    assert job["spec"]["backoffLimit"] == 6
    (rule,) = job["spec"]["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [1, 2])


def test_a_name_that_kubernetes_has_not(capsys):
    assert main([*FLAGS, "--workers=2", "--job_name=My_Job", *COMMAND]) == 2
    assert "--job_name is 'My_Job', but Kubernetes needs small letters" in capsys.readouterr().err


def test_without_kubectl_it_is_said(capsys, monkeypatch):
    monkeypatch.setenv("PATH", "/nothing")
    assert main([*FLAGS[:-1], "--workers=2", *COMMAND]) == 2
    assert "'kubectl' is not on this machine: submit where it is" in capsys.readouterr().err
