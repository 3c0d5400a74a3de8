"""How is a report shown to people?"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tfdist.verification.report import BY_DESIGN, EQUAL, Cause, Comparison, Report, Row

_LAYERS_SHOWN = 8
_WIDTH = 100
_VERDICTS = {
    EQUAL: "equal: the numbers are those of one device",
    BY_DESIGN: "equal, but for what differs by design: nothing else differs",
}


def show(report: Report) -> str:
    """Return a report as a few lines: tables, causes, and the verdict as the last one."""
    lines = [_header(report)]
    for comparison in report.comparisons:
        lines += ["", *_table(comparison, report.strategy)]
    for cause in report.causes:
        lines += ["", *_told(cause)]
    verdict = _VERDICTS.get(report.verdict, "different: the numbers are not those of one device")
    note = f" ({report.note})" if report.note else ""
    return "\n".join([*lines, "", *_wrapped("verdict: ", verdict + note)])


def _header(report: Report) -> str:
    replicas = "1 replica" if report.replicas == 1 else f"{report.replicas} replicas"
    workers = f" in {report.workers} workers" if report.workers > 1 else ""
    return (
        f"{report.strategy}, {replicas}{workers}, against plain Keras on one device: "
        f"{_batches(report.batches)}"
    )


def _batches(sizes: Sequence[int]) -> str:
    if not sizes:
        return "no step was made"
    odd = f", the last of {sizes[-1]}" if sizes[-1] != sizes[0] else ""
    return f"{len(sizes)} steps of {sizes[0]} examples{odd}"


def _table(comparison: Comparison, strategy: str) -> Iterator[str]:
    cells = [(comparison.title, "one device", strategy, "difference", "")]
    cells += [_cells(row) for row in _chosen(comparison)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        numbers = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *numbers]).rstrip()
    if left := _layers(comparison)[_LAYERS_SHOWN:]:
        yield f"  and {len(left)} layers more, up to {_number(left[0].difference)}"
    if comparison.rounding is not None:
        yield f"  another order of the rows moves one device by {_number(comparison.rounding)}"


def _chosen(comparison: Comparison) -> Iterator[Row]:
    yield from (row for row in comparison.rows if row.kind == "log")
    yield from _layers(comparison)[:_LAYERS_SHOWN]
    yield from (row for row in comparison.rows if row.kind in ("optimizer", "count"))


def _layers(comparison: Comparison) -> list[Row]:
    layers = [row for row in comparison.rows if row.kind == "layer"]
    return sorted(layers, key=lambda row: (row.is_equal, -row.difference))


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    values = ["" if each is None else f"{each:.6g}" for each in (row.one_device, row.strategy)]
    kind = "layer " if row.kind == "layer" else ""
    mark = "" if row.is_equal else "differs"
    return (f"  {kind}{row.name}", *values, _number(row.difference), mark)  # type: ignore[return-value]


def _number(difference: float) -> str:
    return "0" if difference == 0 else f"{difference:.1e}"


def _told(cause: Cause) -> Iterator[str]:
    kind = "by design" if cause.by_design else "fault"
    yield from _wrapped(f"{kind}: ", cause.what)
    yield from _wrapped("  remedy: ", cause.remedy)


def _wrapped(label: str, sentence: str) -> list[str]:
    return textwrap.wrap(label + sentence, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
