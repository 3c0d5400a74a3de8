"""A bar in the notebook for what its tasks train, where ipywidgets is there to draw it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from tfdist.cluster import Task
from tfdist.launch.screen import BAR

ASKED = "bar"  # the word by which tasks are asked to tell how far they are
_TOLD = BAR + "{"  # with which `Told` begins a line
Heard = Callable[[Task, str, str], None]


def can_be_drawn() -> bool:
    """Whether this process is the kernel of a notebook, and has ipywidgets."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel") and find_spec("ipywidgets") is not None


class Widget:
    """Shows how far training is, from its first step on; what trains nothing shows nothing.

    Args:
        heard: Told of each line that is no bar, as before.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self._bar: Any = None
        self._text: Any = None

    def __enter__(self) -> Widget:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._bar is not None:
            self._bar.bar_style = "success" if kind is None else "danger"

    def __call__(self, task: Task, stream: str, line: str) -> None:
        """Draw a line of `Told`, and pass on all others."""
        if line.startswith(_TOLD):
            self._draw(**json.loads(line[len(BAR) :]))
        else:
            self._heard(task, stream, line)

    def _draw(self, share: float | None, text: str) -> None:
        import ipywidgets
        from IPython.display import display

        if self._bar is None:
            self._bar = ipywidgets.FloatProgress(
                min=0, max=1, bar_style="info", layout={"flex": "0 0 20em"}
            )
            self._text = ipywidgets.Label()
            display(ipywidgets.HBox([self._bar, self._text]))
        self._bar.value = 1.0 if share is None else share  # full, where the end is not known
        self._text.value = text
