"""Kubeflow's TFJob, which writes TF_CONFIG into its pods.

Format: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
"""

from collections.abc import Mapping

from tfdist.cluster.environments import tf_config
from tfdist.cluster.spec import Cluster
from tfdist.errors import UsageError

NAME = "Kubeflow TFJob"


def detect(env: Mapping[str, str]) -> bool:
    """Whether TF_CONFIG was written by a TFJob: in a pod, for the environment "cloud"."""
    text = env.get(tf_config.NAME, "")
    return "KUBERNETES_SERVICE_HOST" in env and '"environment"' in text and '"cloud"' in text


def rank_and_size(env: Mapping[str, str]) -> tuple[int, int] | None:
    """None: a TFJob describes the cluster itself."""
    return None


def cluster(env: Mapping[str, str]) -> Cluster:
    """The cluster that the TFJob wrote into TF_CONFIG.

    Raises:
        UsageError: when it is not a complete, consistent description.
    """
    text = env[tf_config.NAME]
    if '"sparseCluster"' in text:
        raise UsageError(
            f"{NAME}: TF_CONFIG has a sparseCluster, in which a worker does not see the others; "
            "set enableDynamicWorker to false in the TFJob."
        )
    return tf_config.parse(text, NAME)
