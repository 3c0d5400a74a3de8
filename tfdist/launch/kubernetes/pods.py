"""What the manifests have in common: a container that runs the command, and its port."""

import json
import textwrap
from collections.abc import Mapping, Sequence

from tfdist.cluster.environments.layout import TASKS
from tfdist.launch.settings import Settings

PORT = 2222
_CONTAINER = """\
- name: {name}
  image: {image}
  command: {command}
  ports:
    - name: {port_name}
      containerPort: {port}
"""


def container(
    settings: Settings, command: Sequence[str], spaces: int, name: str = "task", port: str = "grpc"
) -> str:
    """The one item of a list of containers, so many spaces from the left, without its variables."""
    command = ["python", *command] if command[0].startswith("-") else command
    text = _CONTAINER.format(
        name=name,
        image=json.dumps(settings.image),  # text in JSON is text in YAML
        command=json.dumps(list(command)),
        port_name=port,
        port=PORT,
    )
    return textwrap.indent(text, " " * spaces)


def variables(settings: Settings, spaces: int, labels: Mapping[str, str] | None = None) -> str:
    """The variables by which a pod finds its place.

    Args:
        settings: How many tasks.
        spaces: Of the container's own fields from the left.
        labels: Variables that have the value of one of the pod's labels.
    """
    given = {TASKS: tasks(settings), "TFDIST_SERVICE": settings.job_name, "TFDIST_PORT": str(PORT)}
    lines = ["env:"]
    for name, value in given.items():
        lines += [f"  - name: {name}", f"    value: {json.dumps(value)}"]
    for name, label in (labels or {}).items():
        path = json.dumps(f"metadata.labels['{label}']")
        lines += [f"  - name: {name}", "    valueFrom:"]
        lines += ["      fieldRef:", f"        fieldPath: {path}"]
    return textwrap.indent("\n".join(lines), " " * spaces)


def tasks(settings: Settings) -> str:
    """The tasks as TFDIST_TASKS has them."""
    return ",".join(f"{job}={size}" for job, size in settings.sizes.items())
