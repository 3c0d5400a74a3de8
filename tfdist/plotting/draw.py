"""The pictures; each line has a mark and a stroke of its own, so that they need no colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tfdist.errors import UsageError
from tfdist.plotting.runs import Run

# From dark to light, so that a copy in grey keeps them apart (viridis without its yellow end).
_COLOURS = ("#440154", "#31688e", "#35b779", "#c8b400", "#3b528b", "#21918c")
_MARKS = "osD^vP"
_WIDTH, _HEIGHT = 5.2, 3.8  # inches of one panel
_SPEED = "examples_per_second"


def curves(runs: Sequence[Run]) -> Any:
    """Draw loss and metrics of several runs, a panel for each, with validation dashed.

    Returns:
        A figure of matplotlib.

    Raises:
        UsageError: no run has curves.
    """
    names = list(dict.fromkeys(name.removeprefix("val_") for run in runs for name in run.curves))
    if not names:
        raise UsageError(
            "none of these runs left curves: give their --log_dir, or output of "
            "--log_format=json; --scaling needs the run records only"
        )
    figure, each_panel = panels(len(names))
    in_order = sorted(names, key=lambda each: (each != "loss", each))
    for panel, name in zip(each_panel, in_order, strict=False):
        for number, run in enumerate(runs):
            for key, stroke in ((name, "-"), (f"val_{name}", "--")):
                points = run.curves.get(key, [])
                label = run.name + (", validation" if stroke == "--" else "")
                if points:
                    panel.plot(
                        *zip(*points, strict=True),
                        stroke,
                        label=label,
                        **style(number, len(points)),
                    )
        panel.set(xlabel="step", ylabel=name.replace("_", " "))
    each_panel[0].legend(frameon=False, fontsize="small")
    return figure


def scaling(runs: Sequence[Run]) -> Any:
    """Draw examples a second over replicas, a line for each strategy, beside the ideal.

    The ideal is so many times the slowest line's first point as there are replicas more.

    Raises:
        UsageError: fewer than two runs left a record with a speed.
    """
    records = [run.record for run in runs if run.record.get(_SPEED)]
    if len(records) < 2:
        raise UsageError("--scaling needs the records of two runs or more: give their output")
    figure, (panel,) = panels(1)
    for number, strategy in enumerate(dict.fromkeys(each["strategy"] for each in records)):
        points = sorted((r["replicas"], r[_SPEED]) for r in records if r["strategy"] == strategy)
        panel.plot(*zip(*points, strict=True), "-", label=strategy, **style(number, len(points)))
    first, speed = min((each["replicas"], each[_SPEED]) for each in records)
    most = max(each["replicas"] for each in records)
    panel.plot([first, most], [speed, speed * most / first], ":", color="black", label="ideal")
    panel.set(xlabel="replicas", ylabel="examples a second", ylim=(0, None))
    panel.set_xticks(sorted({each["replicas"] for each in records}))
    panel.legend(frameon=False, fontsize="small")
    return figure


def style(number: int, points: int) -> dict[str, Any]:
    """Return what sets one line of a panel apart, by its number and that of its points."""
    return {
        "color": _COLOURS[number % len(_COLOURS)],
        "marker": _MARKS[number % len(_MARKS)],
        "markevery": max(1, points // 10),
        "fillstyle": "none",  # and the first largest, so that lines which coincide are all seen
        "markersize": max(4, 10 - 2 * number),
        "linewidth": 1.5,
    }


def panels(count: int) -> tuple[Any, list[Any]]:
    """Return a figure and so many panels."""
    from matplotlib.figure import Figure

    columns = min(count, 3)
    rows = math.ceil(count / columns)
    figure = Figure((_WIDTH * columns, _HEIGHT * rows), layout="constrained", dpi=120)
    found = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in found:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.3)
    for panel in found[count:]:
        panel.set_visible(False)
    return figure, found
