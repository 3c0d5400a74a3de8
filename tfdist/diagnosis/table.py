"""How a report is shown to people."""

from collections.abc import Iterator, Sequence

from tfdist.cluster import Cluster
from tfdist.diagnosis.finding import FAIL, WARN, Finding
from tfdist.diagnosis.report import Report, Told
from tfdist.diagnosis.wires import Wire


def show(report: Report) -> str:
    """Return a report as tables, the verdict as its last line."""
    chosen = report.strategy or "none fits"
    lines = [
        *_aligned(_tasks(report)),
        "",
        f"strategy: {chosen}, because {report.reason}",
        *_aligned([(f"  not {name}", why) for name, why in report.refused.items()]),
        "",
    ]
    if wires := [wire for told in report.told for wire in told.wires]:
        lines += [*_aligned([_HEAD, *map(_wire, wires)]), ""]
    lines += _findings(report.told)
    lines += [f"not seen: {sentence}" for sentence in report.unseen]
    return "\n".join([*lines, "", _verdict(report)])


def _tasks(report: Report) -> Iterator[tuple[str, ...]]:
    cluster, told = report.cluster, {each.task: each for each in report.told}
    yield "task", "address", "host", "cores", "memory", "devices", ""
    for task in cluster.members if cluster.task in cluster.members else (cluster.task,):
        own = "this process, from " + cluster.source if task == cluster.task else ""
        yield str(task), _address(cluster, task), *_of(told.get(str(task))), own


def _address(cluster: Cluster, task: object) -> str:
    addresses = {
        f"{job} {index}": address
        for job, tasks in cluster.jobs.items()
        for index, address in tasks.items()
    }
    return addresses.get(str(task), "-")


def _of(told: Told | None) -> tuple[str, str, str, str]:
    if told is None:
        return "-", "-", "-", "-"
    found = told.devices
    devices = f"{found['count']} {found['kind']}" if found else "-"
    memory = f"{told.host['memory_bytes'] / 1e9:.1f} GB"
    return told.host["name"], str(told.host["cores"]), memory, devices


_HEAD = ("from", "to", "round trip", "bandwidth", "clock")


def _wire(wire: Wire) -> tuple[str, ...]:
    if wire.problem:
        return wire.start, wire.end, wire.problem, "", ""
    speed = f"{wire.bytes_per_second / 1e6:,.0f} MB/s" if wire.bytes_per_second else ""
    there_and_back_ms = (wire.round_trip_seconds or 0) * 1e3
    ahead_ms = round((wire.clock_seconds or 0) * 1e3, 1) + 0.0  # no -0.0
    return wire.start, wire.end, f"{there_and_back_ms:.2f} ms", speed, f"{ahead_ms:+.1f} ms"


def _findings(told: Sequence[Told]) -> Iterator[str]:
    """Each finding once, with the tasks that have it unless all have."""
    tasks: dict[Finding, list[str]] = {}
    for each in told:
        for finding in each.findings:
            tasks.setdefault(finding, []).append(each.task)
    width = max(len(finding.check) for finding in tasks)
    for finding, those in tasks.items():
        who = "" if len(those) == len(told) else f"{', '.join(those)}: "
        yield f"{finding.status:<4}  {finding.check:<{width}}  {who}{finding.said}"
        if finding.remedy:
            yield f"{'':<{width + 8}}-> {finding.remedy}"


def _verdict(report: Report) -> str:
    found = {finding for told in report.told for finding in told.findings}
    failed = sum(finding.status == FAIL for finding in found)
    warned = sum(finding.status == WARN for finding in found)
    if failed:
        return f"verdict: no training runs until this is mended: {_counted(failed, 'failure')}"
    if warned:
        return f"verdict: a training runs; see to {_counted(warned, 'warning')}"
    return "verdict: a training runs"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _aligned(rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]]) -> Iterator[str]:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
