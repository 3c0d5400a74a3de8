"""The fields of a JobSet (v1alpha2) and a TFJob (v1) as their definitions have them, and no others.

The templates of jobs and pods in them are Kubernetes' own, and are taken out to be checked as such.
"""

import copy

import jsonschema
import kubernetes_validate

_TEXTS = {"type": "array", "items": {"type": "string"}}
_INTEGER = {"type": "integer"}
_TEXT = {"type": "string"}
_BOOLEAN = {"type": "boolean"}


def _object(required=(), **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _kind(api_version, kind, spec):
    return _object(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion={"const": api_version},
        kind={"const": kind},
        metadata=_object(("name",), name=_TEXT, namespace=_TEXT, labels={"type": "object"}),
        spec=spec,
    )


_RULE = _object(
    ("action", "name"),
    name={"type": "string", "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
    action={"enum": ["FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts"]},
    onJobFailureReasons={
        "type": "array",
        "items": {
            "enum": [
                *("BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes"),
                *("MaxFailedIndexesExceeded", "PodFailurePolicy"),
            ]
        },
    },
    targetReplicatedJobs=_TEXTS,
)
JOBSET = _kind(
    "jobset.x-k8s.io/v1alpha2",
    "JobSet",
    _object(
        network=_object(
            enableDNSHostnames=_BOOLEAN, publishNotReadyAddresses=_BOOLEAN, subdomain=_TEXT
        ),
        failurePolicy=_object(
            maxRestarts=_INTEGER,
            restartStrategy={"enum": ["Recreate", "BlockingRecreate"]},
            rules={"type": "array", "items": _RULE},
        ),
        successPolicy=_object(
            ("operator",), operator={"enum": ["All", "Any"]}, targetReplicatedJobs=_TEXTS
        ),
        startupPolicy=_object(
            ("startupPolicyOrder",), startupPolicyOrder={"enum": ["AnyOrder", "InOrder"]}
        ),
        coordinator=_object(
            ("replicatedJob",), replicatedJob=_TEXT, jobIndex=_INTEGER, podIndex=_INTEGER
        ),
        suspend=_BOOLEAN,
        managedBy=_TEXT,
        ttlSecondsAfterFinished=_INTEGER,
        replicatedJobs={
            "type": "array",
            "items": _object(
                ("name", "template"),
                name=_TEXT,
                groupName=_TEXT,
                replicas=_INTEGER,
                dependsOn={"type": "array", "maxItems": 1},
                template={},
            ),
        },
    ),
)
_REPLICAS = _object(
    replicas=_INTEGER,
    restartPolicy={"enum": ["Always", "OnFailure", "Never", "ExitCode"]},
    template={},
)
TFJOB = _kind(
    "kubeflow.org/v1",
    "TFJob",
    _object(
        ("tfReplicaSpecs",),
        enableDynamicWorker=_BOOLEAN,
        successPolicy={"enum": ["", "AllWorkers"]},
        runPolicy=_object(
            activeDeadlineSeconds=_INTEGER,
            backoffLimit=_INTEGER,
            cleanPodPolicy={"enum": ["All", "Running", "None"]},
            managedBy=_TEXT,
            schedulingPolicy={"type": "object"},
            suspend=_BOOLEAN,
            ttlSecondsAfterFinished=_INTEGER,
        ),
        tfReplicaSpecs=_object(
            Chief=_REPLICAS,
            Master=_REPLICAS,
            Worker=_REPLICAS,
            PS=_REPLICAS,
            Evaluator=_REPLICAS,
        ),
    ),
)


def check(manifest, version):
    """Refuse a JobSet or TFJob that has a field which there is not, or one of a wrong kind."""
    if manifest["kind"] == "JobSet":
        jsonschema.validate(manifest, JOBSET)
        for each in manifest["spec"]["replicatedJobs"]:
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": each["name"]}}
            kubernetes_validate.validate({**job, **each["template"]}, version, strict=True)
        return
    jsonschema.validate(manifest, TFJOB)
    for name, each in manifest["spec"]["tfReplicaSpecs"].items():
        template = copy.deepcopy(each["template"])
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name.lower()}}
        kubernetes_validate.validate({**pod, **template}, version, strict=True)
