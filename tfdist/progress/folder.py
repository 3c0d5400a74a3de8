"""In which folder a task leaves what is seen of it."""

import os
from pathlib import Path

from tfdist.errors import UsageError
from tfdist.factory.context import last


def of_task(log_dir: str | os.PathLike) -> Path:
    """Return the folder of this task, in that of the whole job; it is made when it is not there.

    Raises:
        UsageError: it cannot be made.
    """
    folder, context = Path(os.path.abspath(os.path.expanduser(log_dir))), last()
    cluster = None if context is None else context.cluster
    name = "alone"
    if cluster is not None and not cluster.is_local:
        name = f"{cluster.task.type}-{cluster.task.index}"
    own = folder / name
    try:
        own.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"log_dir is {str(log_dir)!r}, where {own} cannot be made ({error.strerror}): give a "
            "folder that can be written to"
        ) from error
    return own
