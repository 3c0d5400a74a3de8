"""Where am I: the cluster that this process's environment describes."""

from collections.abc import Mapping

from tfdist.cluster.environments import tf_config
from tfdist.cluster.spec import Cluster
from tfdist.cluster.variables import environment


def resolve(env: Mapping[str, str] | None = None) -> Cluster:
    """The cluster of this process: TF_CONFIG's, else the scheduler's, else this machine alone.

    Args:
        env: The environment variables; those of this process by default.

    Raises:
        UsageError: when a description is wrong, when two disagree, or when several processes were
            started and nothing says how they reach each other.
    """
    env = environment() if env is None else env
    return tf_config.cluster(env) if tf_config.detect(env) else Cluster()
