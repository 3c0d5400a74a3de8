"""Several rounds over all that is measured, in alternating order, and their medians."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfdist.timing.settings import Settings
from tfdist.timing.start import measure

Row = dict[str, Any]


def rows(kind: str, settings: Settings, run: Callable[..., Row] = measure) -> list[Row]:
    """Measure each point of a table in every round; return its rows."""
    points = list(_points(kind, settings))
    found: list[list[Row]] = [[] for _ in points]
    for turn in range(settings.rounds):
        order = range(len(points)) if turn % 2 == 0 else reversed(range(len(points)))
        for i in order:
            given = {"seconds": settings.seconds, **points[i]}
            found[i].append(run(kind, given, points[i]["tasks"], points[i]["transport"]))
    return [point | medians(each) for point, each in zip(points, found, strict=True)]


def medians(found: Sequence[Row]) -> Row:
    """Return the median of each figure, None where there is none."""
    return {
        name: None if found[0][name] is None else statistics.median(each[name] for each in found)
        for name in found[0]
    }


def _points(kind: str, settings: Settings) -> Iterator[Row]:
    if kind == "allreduce":
        for size in settings.bytes_of("sizes"):
            for bucket in settings.bytes_of("buckets"):
                for road in settings.roads:
                    yield {
                        "size": size,
                        "bucket": bucket,
                        "tasks": max(2, settings.tasks),
                        "transport": road,
                    }
        return
    work = {"model": settings.model, "global_batch_size": settings.global_batch_size}
    yield {**work, "strategy": "one_device", "tasks": 1, "transport": "none"}
    if kind == "scaling":
        for tasks in range(2, settings.tasks + 1):
            for name, road in settings.ways:
                yield {**work, "strategy": name, "tasks": tasks, "transport": road}
