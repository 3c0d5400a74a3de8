"""Kubernetes: the pods of an Indexed Job, or of a JobSet's replicated jobs.

Kubernetes tells a pod its index and its host name, but not how many pods there are: the manifest
gives that in TFDIST_TASKS, and the pods need a headless Service to find each other by name.

Job: https://kubernetes.io/docs/tasks/job/job-with-pod-to-pod-communication/
JobSet: https://jobset.sigs.k8s.io/docs/concepts/ (JOBSET_NAME and REPLICATED_JOB_NAME are set from
the pod's annotations of these names; a replicated job for each job of the cluster)
"""

import socket
from collections.abc import Mapping

from tfdist.cluster.environments.layout import TASKS, lay_out, named_tasks, whole_number
from tfdist.cluster.spec import Cluster
from tfdist.cluster.task import Task
from tfdist.errors import UsageError

NAME = "Kubernetes"
_INDEX = "JOB_COMPLETION_INDEX"
_JOBSET = "JOBSET_NAME"
_REPLICATED_JOB = "REPLICATED_JOB_NAME"
_SERVICE = "TFDIST_SERVICE"
_PORT = "TFDIST_PORT"
_DEFAULT_PORT = "2222"


def detect(env: Mapping[str, str]) -> bool:
    """Whether this is a pod of an Indexed Job of several, or of an unknown number."""
    return _INDEX in env and len(named_tasks(env)) != 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The rank of this pod and the number of pods; None when TFDIST_TASKS is not set."""
    tasks = named_tasks(env)
    return (_rank(env, tasks), len(tasks)) if tasks else None


def cluster(env: Mapping[str, str]) -> Cluster:
    """The pods by their names behind the headless Service.

    Raises:
        UsageError: when the manifest does not say how many pods there are, or has no Service.
    """
    tasks = named_tasks(env)
    if not tasks:
        raise UsageError(
            f"{NAME}: this is pod {env[_INDEX]} of an Indexed Job ({_INDEX}) and nothing says of "
            f"how many; set {TASKS} in the manifest, to worker=4 for example, or to worker=1 when "
            "each pod trains for itself."
        )
    rank = _rank(env, tasks)
    port, service = env.get(_PORT, _DEFAULT_PORT), _service(env)
    addresses = [f"{pod}.{service}:{port}" for pod in _pods(env, tasks)]
    origins = {"hosts": f"HOSTNAME={env.get('HOSTNAME', '')}, service {service}"}
    origins |= {"ports": f"{_PORT}={port}", "task": f"{_INDEX}={env[_INDEX]}"}
    return lay_out(NAME, addresses, rank, env, origins)


def _own_task(env: Mapping[str, str]) -> Task | None:
    """What the name of this pod's replicated job says that it is, in a JobSet."""
    if _JOBSET not in env or _REPLICATED_JOB not in env:
        return None
    return Task(env[_REPLICATED_JOB], whole_number(env, _INDEX, NAME))


def _rank(env: Mapping[str, str], tasks: list[Task]) -> int:
    index, own = whole_number(env, _INDEX, NAME), _own_task(env)
    if own in tasks:
        return tasks.index(own)
    if (own and len({task.type for task in tasks}) > 1) or index >= len(tasks):
        raise UsageError(
            f"{NAME}: this pod is {own or index} and {TASKS}={env[TASKS]} does not have it; name "
            "the replicated jobs and their completions as it does."
        )
    return index


def _pods(env: Mapping[str, str], tasks: list[Task]) -> list[str]:
    """The host names of all pods, in rank order."""
    if _own_task(env) in tasks:
        return [f"{env[_JOBSET]}-{task.type}-0-{task.index}" for task in tasks]
    host, suffix = env.get("HOSTNAME", ""), f"-{whole_number(env, _INDEX, NAME)}"
    if not host.endswith(suffix):
        raise UsageError(
            f"{NAME}: the host name {host!r} does not end in the pod's index {suffix[1:]}; set "
            "spec.completionMode to Indexed and leave the pods' host names to the Job."
        )
    return [f"{host.removesuffix(suffix)}-{rank}" for rank in range(len(tasks))]


def _service(env: Mapping[str, str]) -> str:
    if _SERVICE in env:
        return env[_SERVICE]
    # The kubelet writes "10.0.0.7 job-0.service.namespace.svc.cluster.local job-0" in /etc/hosts.
    _, _, service = socket.getfqdn(env.get("HOSTNAME", "")).partition(".")
    if not service:
        raise UsageError(
            f"{NAME}: the pods have no subdomain, so they cannot find each other; add a headless "
            f"Service and name it in the pods' spec.subdomain, or in {_SERVICE}."
        )
    return service
