"""The table of a measurement, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_MOST = 0.3  # of a step: from here on something other than computing is its limit


def lines(kind: str, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table."""
    return {"scaling": _scaling, "allreduce": _allreduce, "loop": _loop}[kind](rows)


def efficiency(row: dict[str, Any], alone: dict[str, Any]) -> float:
    """Return the part of its tasks' speed, each by itself, that a job reaches."""
    return row["examples_per_second"] / row["tasks"] / alone["examples_per_second"]


def verdict(row: dict[str, Any]) -> str:
    """Return what limits a step."""
    share, what = max((row["input"], "input"), (row["exchange"] or 0.0, "exchange"))
    return f"{what}-bound" if share > _MOST else "compute-bound"


def _scaling(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield (
        f"{'tasks':>5} {'strategy':<17}{'transport':<10}{'ms/step':>9}{'examples/s':>12}"
        f"{'efficiency':>12}{'input':>8}{'computing':>11}{'exchange':>10}  verdict"
    )
    for row in rows:
        yield (
            f"{row['tasks']:>5} {row['strategy']:<17}{row['transport']:<10}"
            f"{row['ms_per_step']:>9.3g}"
            f"{row['examples_per_second']:>12,.0f}{efficiency(row, rows[0]):>12.0%}"
            f"{row['input']:>8.0%}{row['computing']:>11.0%}{_part(row['exchange']):>10}"
            f"  {verdict(row)}"
        )


def _part(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _allreduce(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield (
        f"{'bytes':>12}{'in values of':>14} {'transport':<10}{'ms':>10}{'algorithm GB/s':>16}"
        f"{'bus GB/s':>10}{'raw MPI ms':>12}"
    )
    for row in rows:
        raw = f"{row['raw_mpi_ms']:.3g}" if row["raw_mpi_ms"] else "-"
        yield (
            f"{row['size']:>12,}{row['bucket']:>14,} {row['transport']:<10}{row['ms']:>10.3g}"
            f"{row['algorithm_gb_per_s']:>16.3g}{row['bus_gb_per_s']:>10.3g}{raw:>12}"
        )


def _loop(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        ratio = row["keras"] / row["tfdist"]
        yield (
            f"{row['model']}, batch {row['global_batch_size']}: {row['tfdist']:.3g} ms a step, "
            f"Keras' fit {row['keras']:.3g} ms: {ratio:.2f} times as fast"
        )
