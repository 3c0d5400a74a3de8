"""The one place where the process environment is read."""

import os
from collections.abc import Mapping


def environment() -> Mapping[str, str]:
    """All variables of this process, live: a later change is seen."""
    return os.environ


def variable(name: str, default: str | None = None) -> str | None:
    """The variable `name` of this process, or `default` when it is not set."""
    return environment().get(name, default)
