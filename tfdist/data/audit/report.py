"""What does an audit say?"""

from __future__ import annotations

from collections.abc import Iterator

from tfdist.data.audit.findings import Findings


def report(name: str, found: Findings) -> str:
    """Return the lines of the report on the dataset `name`; the verdict is the last one."""
    return "\n".join(_lines(name, found))


def _lines(name: str, found: Findings) -> Iterator[str]:
    yield f"{name}: {found.examples:,} examples"
    yield f"  batches     {_batches(found)}"
    for worker, replicas in enumerate(found.read):
        share = f" ({', '.join(f'{count:,}' for count in replicas)})" if len(replicas) > 1 else ""
        yield f"  worker {worker:<4} {sum(replicas):,}{share}"
    yield f"  seen twice  {found.twice:,}"
    yield f"  never seen  {found.never:,}" + (
        f", of which {found.dropped:,} in a last batch that is not full" if found.dropped else ""
    )
    if found.foreign:
        yield f"  not there   {found.foreign:,}"
    if found.unreadable:
        yield f"  unreadable  {found.unreadable:,}"
    yield "verdict: " + ("; ".join(found.faults) or "each example is read exactly once")


def _batches(found: Findings) -> str:
    sizes = found.batches[0]
    return ", ".join(f"{count:,} of {size:,}" for size, count in sizes) or "none"
