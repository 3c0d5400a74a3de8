"""The traces of several tasks as one timeline, for Perfetto or chrome://tracing.

Each task's profiler counts time by the clock of its own host. A sum over the tasks ends in all of
them at the same moment, but for the network, so the ends of the sums say how far apart clocks are.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tfdist.errors import UsageError

_COMMON = "CollectiveReduce"  # in the names of TensorFlow's events of a sum over tasks
_MICROSECOND = 1000  # nanoseconds


@dataclass(frozen=True)
class Event:
    """Something that a thread or device of a task did.

    Attributes:
        name: What.
        group: Device or host of the task.
        thread: In the group.
        start: Nanoseconds of the clock of its host, since 1970.
        duration: Nanoseconds.
    """

    name: str
    group: str
    thread: str
    start: float
    duration: float


def read(log_dir: str) -> dict[str, list[Event]]:
    """Return the events of each task's newest trace below a `--log_dir`.

    Raises:
        UsageError: there is no trace.
    """
    newest: dict[str, Path] = {}
    for file in sorted(Path(log_dir).glob("*/plugins/profile/*/*.xplane.pb")):
        newest[file.parents[3].name] = file
    if not newest:
        raise UsageError(
            f"{log_dir!r} holds no trace: give the --log_dir of a run with --profile_steps, and "
            "--log_tasks=all for a trace of every task"
        )
    return {task: list(_events(file)) for task, file in newest.items()}


def offsets(tasks: Mapping[str, Sequence[Event]]) -> dict[str, float]:
    """Return the nanoseconds to be added to each task's times, 0 where nothing is in common."""
    first, *others = tasks
    ends = {task: _common(events) for task, events in tasks.items()}
    found = {first: 0.0}
    for task in others:
        differences = [
            mine - theirs
            for name in ends[first]
            if len(ends[first][name]) == len(ends[task].get(name, ()))
            for mine, theirs in zip(ends[first][name], ends[task][name], strict=True)
        ]
        found[task] = statistics.median(differences) if differences else 0.0
    return found


def merged(tasks: Mapping[str, Sequence[Event]]) -> dict[str, Any]:
    """Return the events of all tasks in the format of trace viewers, on the first task's clock."""
    added = offsets(tasks)
    begin = min((e.start + added[t] for t, events in tasks.items() for e in events), default=0)
    found: list[dict[str, Any]] = []
    groups: dict[tuple[str, str], int] = {}
    threads: dict[tuple[str, str, str], dict[str, int]] = {}
    for task, events in tasks.items():
        for each in events:
            group, thread = (task, each.group), (task, each.group, each.thread)
            if group not in groups:
                groups[group] = len(groups) + 1
                found.append(_named("process", f"{task} {each.group}", pid=groups[group]))
            if thread not in threads:
                threads[thread] = {"pid": groups[group], "tid": len(threads) + 1}
                found.append(_named("thread", each.thread, **threads[thread]))
            found.append(
                {
                    "ph": "X",
                    "name": each.name,
                    "ts": (each.start + added[task] - begin) / _MICROSECOND,
                    "dur": each.duration / _MICROSECOND,
                    **threads[thread],
                }
            )
    return {"displayTimeUnit": "ms", "traceEvents": found}


def write(log_dir: str, file: str) -> list[str]:
    """Write the timeline of a run, compressed; return the names of its tasks."""
    tasks = read(log_dir)
    with gzip.open(file, "wt") as out:
        json.dump(merged(tasks), out)
    return list(tasks)


def _common(events: Sequence[Event]) -> dict[str, list[float]]:
    """The ends of the sums over tasks, in their order, by name."""
    ends = defaultdict(list)
    for each in events:
        if _COMMON in each.name and each.duration:
            ends[each.name].append(each.start + each.duration)
    return {name: sorted(found) for name, found in ends.items()}


def _named(what: str, name: str, **place: int) -> dict[str, Any]:
    return {"ph": "M", "name": f"{what}_name", "args": {"name": name}, **place}


def _events(file: Path) -> Iterator[Event]:
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    space = xplane_pb2.XSpace()
    space.ParseFromString(file.read_bytes())
    start = max((_start(plane) for plane in space.planes), default=0)
    for plane in space.planes:
        names = {key: each.display_name or each.name for key, each in plane.event_metadata.items()}
        for line in plane.lines:
            thread = line.display_name or line.name or str(line.id)
            for each in line.events:
                at = start + line.timestamp_ns + each.offset_ps / 1000
                name = names[each.metadata_id]
                yield Event(name, plane.name, thread, at, each.duration_ps / 1000)


def _start(plane: Any) -> int:
    """When a trace began, by the clock of the host; 0 where a plane does not tell."""
    names = {key: each.name for key, each in plane.stat_metadata.items()}
    found = (s.uint64_value for s in plane.stats if names[s.metadata_id] == "profile_start_time")
    return next(found, 0)
