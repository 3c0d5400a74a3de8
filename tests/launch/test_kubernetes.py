"""The manifest is valid, and its pods find their cluster."""

import jsonschema
import kubernetes_validate
import pytest
import yaml

from tests.launch import crds
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


def of_kind(capsys, kind, *flags):
    assert main([*FLAGS, f"--kind={kind}", "--job_name=fit", *flags, *COMMAND]) == 0
    return yaml.safe_load(capsys.readouterr().out)


@pytest.mark.parametrize("kind", ["jobset", "tfjob"])
@pytest.mark.parametrize(
    "flags", [["--workers=4"], ["--workers=2", "--chief", "--ps=1", "--max_restarts=2"]]
)
def test_other_kinds_are_valid(capsys, kind, flags):
    crds.check(of_kind(capsys, kind, *flags), kubernetes_validate.latest_version())


@pytest.mark.parametrize("kind", ["jobset", "tfjob"])
def test_a_field_that_there_is_not_is_noticed(capsys, kind):
    made = of_kind(capsys, kind, "--workers=4")
    made["spec"]["suspendd"] = True
    with pytest.raises(jsonschema.ValidationError):
        crds.check(made, kubernetes_validate.latest_version())


def test_each_pod_of_a_jobset_finds_its_cluster(capsys):
    spec = of_kind(capsys, "jobset", "--workers=2", "--chief", "--ps=1", "--max_restarts=3")["spec"]
    clusters = [resolve(pod) for pod in pods_of(spec)]
    tasks = [Task("chief", 0), Task("worker", 0), Task("worker", 1), Task("ps", 0)]
    assert [each.task for each in clusters] == tasks
    assert len({each.tf_config().partition('"task"')[0] for each in clusters}) == 1
    assert clusters[0].address(Task("worker", 1)) == "fit-worker-0-1.fit:2222"
    assert spec["network"]["subdomain"] == "fit"
    assert spec["failurePolicy"]["maxRestarts"] == 3
    (rule,) = spec["failurePolicy"]["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["PodFailurePolicy"])


def pods_of(spec):
    """The variables that the controllers of Kubernetes and JobSet give to each pod."""
    for each in spec["replicatedJobs"]:
        job, template = each["name"], each["template"]["spec"]
        labels = {"jobset-name": "fit", "replicatedjob-name": job}
        values = {f"metadata.labels['jobset.sigs.k8s.io/{k}']": v for k, v in labels.items()}
        (container,) = template["template"]["spec"]["containers"]
        env = {
            each["name"]: each.get("value") or values[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in container["env"]
        }
        for index in range(template["completions"]):
            own = {"JOB_COMPLETION_INDEX": str(index), "HOSTNAME": f"fit-{job}-0-{index}"}
            yield {**env, **own}


def test_a_tfjob_has_the_names_that_its_operator_looks_for(capsys):
    spec = of_kind(capsys, "tfjob", "--workers=2", "--chief", "--ps=1")["spec"]
    sizes = {job: each["replicas"] for job, each in spec["tfReplicaSpecs"].items()}
    assert sizes == {"Chief": 1, "Worker": 2, "PS": 1}
    assert spec["enableDynamicWorker"] is False
    for each in spec["tfReplicaSpecs"].values():
        (container,) = each["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"
        assert container["ports"] == [{"name": "tfjob-port", "containerPort": 2222}]
        assert container["command"] == ["python", *COMMAND[1:]]
        assert each["restartPolicy"] == "Never"
