"""How much does a program hold at its peak? A buffer lives from its maker to its last reader.

Pure: knows operations by what they read, make and wait for, and nothing of TensorFlow.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

NEW, ALIAS, REUSE, HELD = "new", "alias", "reuse", "held"


@dataclass(frozen=True)
class Operation:
    """One operation of a program.

    Attributes:
        name: Its own.
        reads: The tensors it reads, by their numbers.
        makes: The tensors it makes, with their bytes.
        after: Names of operations that must be done before, besides those whose tensors it reads.
        way: What its results lie in: NEW memory; an ALIAS of its first input; the memory of an
            input of the same size that nobody reads after it (REUSE), else new; or memory that is
            HELD in any case and counts elsewhere, as that of variables and constants.
        inside_bytes: What it needs only while it runs.
    """

    name: str
    reads: tuple[int, ...] = ()
    makes: tuple[tuple[int, int], ...] = ()
    after: tuple[str, ...] = ()
    way: str = NEW
    inside_bytes: int = 0


@dataclass(frozen=True)
class Peak:
    """The moment at which a program holds most.

    Attributes:
        total_bytes: All that is held then.
        held: Bytes by the name of the operation that made them.
    """

    total_bytes: int
    held: dict[str, int]


def peak(operations: Sequence[Operation], results: Collection[int] = ()) -> Peak:
    """Return the peak of a program whose operations run as soon as they can.

    TensorFlow's threads take what is ready in an order between first come, first served and last
    come, first served; the larger of both peaks counts.

    Args:
        operations: In any order; none waits for itself.
        results: Tensors that are still needed when all is done.
    """
    return max((_Run(operations, results, last).peak() for last in (False, True)), key=_bytes)


def _bytes(found: Peak) -> int:
    return found.total_bytes


class _Run:
    def __init__(
        self, operations: Sequence[Operation], results: Collection[int], last_first: bool
    ) -> None:
        self._operations = {each.name: each for each in operations}
        self._results = set(results)
        self._last_first = last_first
        self._maker = {t: each.name for each in operations for t, _ in each.makes}
        self._readers = Counter(t for each in operations for t in each.reads)
        self._buffer: dict[int, int] = {}  # of a tensor: the number of the tensor that made it
        self._size: dict[int, int] = {}  # of a buffer that is alive
        self._left: Counter[int] = Counter()  # readers that a buffer still waits for

    def peak(self) -> Peak:
        now, most = 0, Peak(0, {})
        for each in self._in_order():
            before = {self._buffer[t] for t in each.reads}
            now += self._make(each)
            if now + each.inside_bytes > most.total_bytes:
                sizes = {f"{each.name}/": each.inside_bytes}  # no name ends so
                sizes |= {self._maker[b]: size for b, size in self._size.items()}
                held = {name: size for name, size in sizes.items() if size}
                most = Peak(now + each.inside_bytes, held)
            for tensor in each.reads:
                self._left[self._buffer[tensor]] -= 1
            for buffer in before | {self._buffer[t] for t, _ in each.makes}:
                if self._left[buffer] == 0:
                    now -= self._size.pop(buffer, 0)
        return most

    def _in_order(self) -> Iterator[Operation]:
        then: dict[str, list[str]] = defaultdict(list)
        waits: dict[str, int] = {}
        for each in self._operations.values():
            before = {self._maker[t] for t in each.reads} | set(each.after)
            waits[each.name] = len(before)
            for name in before:
                then[name].append(each.name)
        ready = deque(name for name, number in waits.items() if number == 0)
        while ready:
            name = ready.popleft()
            yield self._operations[name]
            for follower in then[name]:
                waits[follower] -= 1
                if waits[follower] == 0:
                    (ready.appendleft if self._last_first else ready.append)(follower)

    def _make(self, each: Operation) -> int:
        """Give each result its buffer; return the bytes that are new."""
        new = 0
        for place, (tensor, size) in enumerate(each.makes):
            buffer, added = self._place(each, place, size, tensor)
            self._buffer[tensor] = buffer
            self._left[buffer] += self._readers[tensor] + (tensor in self._results)
            if added:
                self._size[buffer] = size
                new += size
        return new

    def _place(self, each: Operation, place: int, size: int, tensor: int) -> tuple[int, bool]:
        if each.way == HELD:
            return tensor, False
        if each.way == ALIAS and each.reads:
            return self._buffer[each.reads[min(place, len(each.reads) - 1)]], False
        if each.way == REUSE and place == 0:
            for read in each.reads:
                buffer = self._buffer[read]
                if self._left[buffer] == 1 and size and self._size.get(buffer) == size:
                    return buffer, False
        return tensor, True
