"""Settings of the processor's libraries that must be in the environment before TensorFlow loads."""

import os
from collections.abc import Mapping

# What the user set stays as it is.
_DEFAULTS = {
    "TF_CPP_MIN_LOG_LEVEL": "2",  # errors only: the screen belongs to the run
    "TF_ENABLE_ONEDNN_OPTS": "1",
}


def set_defaults() -> Mapping[str, str]:
    """Set what is not set yet, and return all of these settings as they now are.

    Without effect on a TensorFlow that is loaded already.
    """
    return {name: os.environ.setdefault(name, value) for name, value in _DEFAULTS.items()}
