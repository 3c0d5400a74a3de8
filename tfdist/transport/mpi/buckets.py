"""Which values travel together? Pure: imports neither TensorFlow nor MPI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BUCKET_BYTES = 4 * 2**20
# From here on copying a tensor into a message costs more than a message of its own.
ALONE_BYTES = 256 * 2**10


@dataclass(frozen=True)
class Message:
    """Values of one type, summed by one all-reduce; their places in the list of all values."""

    places: tuple[int, ...]


Bucket = tuple[Message, ...]  # sets off when the last of its values is there


def fill(
    values: Sequence[tuple[int, str, int | None]],
    bucket_bytes: int = BUCKET_BYTES,
    alone_bytes: int = ALONE_BYTES,
) -> list[Bucket]:
    """Fill buckets with values in the order in which they come.

    Args:
        values: The place of each value, its type, and its size in bytes, None where that is known
            only in the step: such a value counts as a large one.
        bucket_bytes: A bucket is full when it holds as much.
        alone_bytes: A value of this size is a message of its own, sent from where it lies.
    """
    buckets: list[Bucket] = []
    waiting: list[tuple[int, str, int | None]] = []
    waiting_bytes = 0
    for value in values:
        waiting.append(value)
        waiting_bytes += alone_bytes if value[2] is None else value[2]
        if waiting_bytes >= bucket_bytes:
            buckets.append(_messages(waiting, alone_bytes))
            waiting, waiting_bytes = [], 0
    return [*buckets, _messages(waiting, alone_bytes)] if waiting else buckets


def _messages(values: Sequence[tuple[int, str, int | None]], alone_bytes: int) -> Bucket:
    alone, packed = [], dict[str, list[int]]()
    for place, dtype, size_bytes in values:
        if size_bytes is None or size_bytes >= alone_bytes:
            alone.append(Message((place,)))
        else:
            packed.setdefault(dtype, []).append(place)
    return (*alone, *(Message(tuple(places)) for places in packed.values()))
