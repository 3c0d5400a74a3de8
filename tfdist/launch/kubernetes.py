"""The tasks as an Indexed Job of Kubernetes, with the headless Service by which they meet.

Job: https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

import json
import re
from collections.abc import Sequence

from tfdist.cluster.environments.layout import TASKS
from tfdist.errors import EXIT_FAILED, EXIT_USAGE, UsageError
from tfdist.launch.settings import Settings

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,51}[a-z0-9])?")  # and then a number, 63 in all
_PORT = 2222
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
        - name: task
          image: {image}
          command: {command}
          env:
            - name: {tasks_name}
              value: {tasks}
            - name: TFDIST_SERVICE
              value: {name}
            - name: TFDIST_PORT
              value: "{port}"
          ports:
            - name: grpc
              containerPort: {port}
"""


def manifest(settings: Settings, command: Sequence[str]) -> str:
    """Return the YAML of the Job and its Service.

    A pod's failure with another exit code than 1 and 2 is tried again, `max_restarts` times the
    number of tasks, since all pods of the group end when one does.

    Raises:
        UsageError: the job's name is none for Kubernetes.
    """
    if not _NAME.fullmatch(settings.job_name):
        raise UsageError(
            f"--job_name is {settings.job_name!r}, but Kubernetes needs small letters, digits and "
            "dashes, at most 53, such as digits-1"
        )
    size = sum(settings.sizes.values())
    command = ["python", *command] if command[0].startswith("-") else command
    tasks = ",".join(f"{job}={count}" for job, count in settings.sizes.items())
    return _MANIFEST.format(
        name=settings.job_name,
        port=_PORT,
        size=size,
        retries=settings.max_restarts * size,
        failed=EXIT_FAILED,
        usage=EXIT_USAGE,
        image=json.dumps(settings.image),  # text in JSON is text in YAML
        command=json.dumps(list(command)),
        tasks_name=TASKS,
        tasks=json.dumps(tasks),
    )
