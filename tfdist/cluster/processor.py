"""The processor: its cores, and settings of its libraries from before TensorFlow loads."""

import os

# What the user set stays as it is.
_DEFAULTS = {
    "TF_CPP_MIN_LOG_LEVEL": "2",  # errors only: the screen belongs to the run
    "TF_ENABLE_ONEDNN_OPTS": "1",
}


def set_defaults() -> dict[str, str]:
    """Set what is not set yet, and return all of these settings as they now are.

    Without effect on a TensorFlow that is loaded already.
    """
    return {name: os.environ.setdefault(name, value) for name, value in _DEFAULTS.items()}


def cores() -> int:
    """Return the number of cores that this thread may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
