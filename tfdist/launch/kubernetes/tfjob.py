"""The tasks as a TFJob of Kubeflow's training operator, which writes TF_CONFIG into the pods.

TFJob: https://www.kubeflow.org/docs/components/trainer/legacy-v1/user-guides/tensorflow/
"""

from collections.abc import Sequence

from tfdist.launch.kubernetes.pods import container
from tfdist.launch.settings import Settings

_MANIFEST = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: {name}
spec:
  enableDynamicWorker: false
  runPolicy:
    cleanPodPolicy: Running
    backoffLimit: {retries}
  tfReplicaSpecs:
{replicas}"""
# The operator looks for a container and a port of these names. "ExitCode" would take 75 for final.
_REPLICAS = """\
    {job}:
      replicas: {size}
      restartPolicy: {policy}
      template:
        spec:
          enableServiceLinks: false
          containers:
{container}"""
_NAMES = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}


def manifest(settings: Settings, command: Sequence[str]) -> str:
    """Return the YAML of the TFJob.

    With `max_restarts` a pod is started again in its place after any failure, as often for each as
    there are restarts, since a TFJob does not tell exit codes apart as tfdist does.
    """
    replicas = [
        _REPLICAS.format(
            job=_NAMES[job],
            size=size,
            policy="OnFailure" if settings.max_restarts else "Never",
            container=container(settings, command, 12, "tensorflow", "tfjob-port"),
        )
        for job, size in settings.sizes.items()
    ]
    return _MANIFEST.format(
        name=settings.job_name,
        retries=settings.max_restarts * sum(settings.sizes.values()),
        replicas="".join(replicas),
    )
