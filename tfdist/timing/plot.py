"""A picture of how training scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.plotting.draw import panels, style
from tfdist.timing.report import efficiency


def draw(rows: Sequence[dict[str, Any]], file: str) -> None:
    """Draw efficiency over tasks, a line for each strategy and transport."""
    figure, (panel,) = panels(1)
    ways = dict.fromkeys(map(_way, rows[1:]))
    for number, way in enumerate(ways):
        of_road = [rows[0], *(row for row in rows[1:] if _way(row) == way)]
        tasks = [row["tasks"] for row in of_road]
        shares = [efficiency(row, rows[0]) for row in of_road]
        panel.plot(tasks, shares, "-", label=way, **style(number, len(tasks)))
    most = max(efficiency(row, rows[0]) for row in rows)
    panel.set(xlabel="tasks", ylabel="efficiency", ylim=(0, 1.1 * most))
    panel.set_xticks(sorted({row["tasks"] for row in rows}))
    panel.legend(frameon=False, fontsize="small")
    figure.savefig(file)


def _way(row: dict[str, Any]) -> str:
    return row["strategy"] if row["transport"] == "none" else row["transport"]
