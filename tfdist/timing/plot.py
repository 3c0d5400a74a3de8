"""A picture of how training scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.plotting.draw import panels, style
from tfdist.timing.report import efficiency


def draw(rows: Sequence[dict[str, Any]], file: str) -> None:
    """Draw efficiency over tasks, a line for each transport."""
    figure, (panel,) = panels(1)
    roads = dict.fromkeys(row["transport"] for row in rows[1:])
    for number, road in enumerate(roads):
        of_road = [rows[0], *(row for row in rows if row["transport"] == road)]
        tasks = [row["tasks"] for row in of_road]
        shares = [efficiency(row, rows[0]) for row in of_road]
        panel.plot(tasks, shares, "-", label=road, **style(number, len(tasks)))
    most = max(efficiency(row, rows[0]) for row in rows)
    panel.set(xlabel="tasks", ylabel="efficiency", ylim=(0, 1.1 * most))
    panel.set_xticks(sorted({row["tasks"] for row in rows}))
    panel.legend(frameon=False, fontsize="small")
    figure.savefig(file)
