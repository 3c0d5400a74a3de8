"""Amazon SageMaker: one container on each host of a training job.

Variables: https://github.com/aws/sagemaker-training-toolkit/blob/master/ENVIRONMENT_VARIABLES.md
"""

import json
from collections.abc import Mapping

from tfdist.cluster.environments.layout import lay_out
from tfdist.cluster.spec import Cluster
from tfdist.errors import UsageError

NAME = "SageMaker"
_HOSTS = "SM_HOSTS"
_OWN = "SM_CURRENT_HOST"
_PORT = 2222


def detect(env: Mapping[str, str]) -> bool:
    """Whether the training job has several hosts."""
    return _HOSTS in env and len(_hosts(env)) > 1


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """The position of this host and the number of hosts."""
    hosts = _hosts(env)
    if env.get(_OWN) not in hosts:
        raise UsageError(
            f"{NAME}: {_OWN}={env.get(_OWN, '')} is not in {_HOSTS}={env[_HOSTS]}; leave both "
            "variables as SageMaker sets them."
        )
    return hosts.index(env[_OWN]), len(hosts)


def cluster(env: Mapping[str, str]) -> Cluster:
    """One task on each host; each has its own network address, so the port is the same.

    Raises:
        UsageError: when the variables contradict each other.
    """
    rank, _ = rank_and_size(env) or (0, 1)
    addresses = [f"{host}:{_PORT}" for host in _hosts(env)]
    origins = {"hosts": f"{_HOSTS}={env[_HOSTS]}", "task": f"{_OWN}={env[_OWN]}"}
    return lay_out(NAME, addresses, rank, env, origins)


def _hosts(env: Mapping[str, str]) -> list[str]:
    try:
        hosts = json.loads(env[_HOSTS])
    except ValueError:
        hosts = None
    if not (isinstance(hosts, list) and all(isinstance(host, str) for host in hosts)):
        raise UsageError(
            f"{NAME}: {_HOSTS}={env[_HOSTS]} is no list of host names; it should be like "
            '["algo-1", "algo-2"], as SageMaker sets it.'
        )
    # SageMaker sorts algo-10 before algo-2; people count.
    return sorted(hosts, key=lambda host: (len(host), host))
