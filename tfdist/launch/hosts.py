"""On which host a task runs."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfdist.launch import keeper


@dataclass(frozen=True)
class Host:
    """Where tasks can run.

    Attributes:
        name: For people.
        address: By which the other tasks reach it.
        keeper: The command that starts a keeper there.
        greeting: What that command wants to read first.
        login: The command that opens a connection; empty for this machine.
        process: What makes a process there, where it is not a `Process` by the keeper's command.
    """

    name: str
    address: str
    keeper: tuple[str, ...]
    greeting: bytes = b""
    login: tuple[str, ...] = ()
    process: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return self.name

    @property
    def is_remote(self) -> bool:
        """Whether it is another machine, reached by ssh or Ray."""
        return bool(self.login)


THIS_MACHINE = Host("this machine", "127.0.0.1", (sys.executable, "-I", "-S", keeper.__file__))
