"""What does an audit say?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfdist.data.audit.findings import Findings

_RIGHT = ("each example is read exactly once", "no example is read twice")


def report(name: str, found: Findings) -> str:
    """Return the lines of the report on the dataset `name`; the verdict is the last one."""
    return "\n".join(_lines(name, found))


def _lines(name: str, found: Findings) -> Iterator[str]:
    yield f"{name}: {found.examples:,} examples"
    if not found.declared:
        yield f"  batches     {_batches(found.batches[0])}"
    for worker, replicas in enumerate(found.read):
        share = f" ({', '.join(f'{count:,}' for count in replicas)})" if len(replicas) > 1 else ""
        if found.declared:
            share = f" in {_batches(found.batches[worker])}"
        yield f"  worker {worker:<4} {sum(replicas):,}{share}"
    yield f"  seen twice  {found.twice:,}"
    if not found.declared:
        yield f"  never seen  {found.never:,}" + (
            f", of which {found.dropped:,} in a last batch that is not full"
            if found.dropped
            else ""
        )
    if found.foreign:
        yield f"  not there   {found.foreign:,}"
    if found.unreadable:
        yield f"  unreadable  {found.unreadable:,}"
    yield "verdict: " + ("; ".join(found.faults) or _RIGHT[found.declared])


def _batches(sizes: Sequence[Sequence[int]]) -> str:
    return ", ".join(f"{count:,} of {size:,}" for size, count in sizes) or "none"
