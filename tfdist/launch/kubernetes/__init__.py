"""The tasks as an Indexed Job of Kubernetes, a JobSet, or a TFJob of Kubeflow, on request."""

import re
from collections.abc import Sequence

from tfdist.errors import UsageError
from tfdist.launch.kubernetes import job, jobset, tfjob
from tfdist.launch.settings import Settings

# With a job and two numbers behind it, 63 characters in all.
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,39}[a-z0-9])?")
_KINDS = {"job": job.manifest, "jobset": jobset.manifest, "tfjob": tfjob.manifest}


def manifest(settings: Settings, command: Sequence[str]) -> str:
    """Return the YAML of what `settings.kind` asks for.

    Raises:
        UsageError: the job's name is none for Kubernetes.
    """
    if not _NAME.fullmatch(settings.job_name):
        raise UsageError(
            f"--job_name is {settings.job_name!r}, but Kubernetes needs small letters, digits and "
            "dashes, at most 41, such as digits-1"
        )
    return _KINDS[settings.kind](settings, command)
