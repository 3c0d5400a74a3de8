"""In which folder a task leaves what is seen of it."""

import os
from pathlib import Path

from tfdist.factory.context import last


def of_task(log_dir: str | os.PathLike) -> Path:
    """Return the folder of this task, in that of the whole job."""
    folder, context = Path(os.path.abspath(os.path.expanduser(log_dir))), last()
    if context is None or context.cluster.is_local:
        return folder / "alone"
    return folder / f"{context.cluster.task.type}-{context.cluster.task.index}"
