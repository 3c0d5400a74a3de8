"""A picture of how training scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.timing.report import efficiency


def draw(rows: Sequence[dict[str, Any]], file: str) -> None:
    """Draw efficiency over tasks, a line for each transport."""
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots()
    for road in dict.fromkeys(row["transport"] for row in rows[1:]):
        of_road = [rows[0], *(row for row in rows if row["transport"] == road)]
        tasks = [row["tasks"] for row in of_road]
        axes.plot(tasks, [efficiency(row, rows[0]) for row in of_road], marker="o", label=road)
    axes.set(xlabel="tasks", ylabel="efficiency", ylim=(0, None))
    axes.legend()
    figure.savefig(file)
