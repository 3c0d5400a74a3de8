"""The tasks as an Indexed Job of Kubernetes, with the headless Service by which they meet.

Job: https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from collections.abc import Sequence

from tfdist.errors import EXIT_FAILED, EXIT_USAGE
from tfdist.launch.kubernetes.pods import PORT, container, variables
from tfdist.launch.settings import Settings

# A pod has a new address after a restart, so all pods of a group end and come again together:
# those that lost another end with 75, which counts among the retries.
_MANIFEST = """\
apiVersion: v1
kind: Service
metadata:
  name: {name}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    batch.kubernetes.io/job-name: {name}
  ports:
    - name: grpc
      port: {port}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {name}
spec:
  completionMode: Indexed
  completions: {size}
  parallelism: {size}
  backoffLimit: {retries}
  podFailurePolicy:
    rules:
      - action: FailJob
        onExitCodes:
          containerName: task
          operator: In
          values: [{failed}, {usage}]
  template:
    spec:
      subdomain: {name}
      restartPolicy: Never
      enableServiceLinks: false
      containers:
{container}{variables}
"""


def manifest(settings: Settings, command: Sequence[str]) -> str:
    """Return the YAML of the Job and its Service.

    A pod's failure with another exit code than 1 and 2 is tried again, `max_restarts` times the
    number of tasks, since all pods of the group end when one does.
    """
    size = sum(settings.sizes.values())
    return _MANIFEST.format(
        name=settings.job_name,
        port=PORT,
        size=size,
        retries=settings.max_restarts * size,
        failed=EXIT_FAILED,
        usage=EXIT_USAGE,
        container=container(settings, command, 8),
        variables=variables(settings, 10),
    )
