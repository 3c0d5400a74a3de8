"""The tasks as a JobSet: a replicated job for each job of the cluster, restarted as a whole.

JobSet: https://jobset.sigs.k8s.io/docs/concepts/
"""

from collections.abc import Sequence

from tfdist.errors import EXIT_FAILED, EXIT_USAGE
from tfdist.launch.kubernetes.pods import container, variables
from tfdist.launch.settings import Settings

# Exit codes 1 and 2 fail a job by its policy for pods, and with it the set; any other fails it by
# its number of retries, 0, and the set is started again.
_MANIFEST = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: {name}
spec:
  network:
    enableDNSHostnames: true
    subdomain: {name}
    publishNotReadyAddresses: true
  failurePolicy:
    maxRestarts: {restarts}
    rules:
      - name: noRestart
        action: FailJobSet
        onJobFailureReasons: [PodFailurePolicy]
  replicatedJobs:
{jobs}"""
_JOB = """\
    - name: {job}
      replicas: 1
      template:
        spec:
          completionMode: Indexed
          completions: {size}
          parallelism: {size}
          backoffLimit: 0
          podFailurePolicy:
            rules:
              - action: FailJob
                onExitCodes:
                  containerName: task
                  operator: In
                  values: [{failed}, {usage}]
          template:
            spec:
              restartPolicy: Never
              enableServiceLinks: false
              containers:
{container}{variables}
"""
_LABELS = {
    "JOBSET_NAME": "jobset.sigs.k8s.io/jobset-name",
    "REPLICATED_JOB_NAME": "jobset.sigs.k8s.io/replicatedjob-name",
}


def manifest(settings: Settings, command: Sequence[str]) -> str:
    """Return the YAML of the JobSet, which makes its headless Service itself."""
    jobs = [
        _JOB.format(
            job=job,
            size=size,
            failed=EXIT_FAILED,
            usage=EXIT_USAGE,
            container=container(settings, command, 16),
            variables=variables(settings, 18, _LABELS),
        )
        for job, size in settings.sizes.items()
    ]
    return _MANIFEST.format(
        name=settings.job_name, restarts=settings.max_restarts, jobs="".join(jobs)
    )
