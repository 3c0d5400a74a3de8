"""Slurm's short forms: n[1-3,07,10-12],login and 2(x3),1.

Grammar: https://slurm.schedmd.com/hostlist.html and the man page of srun.
"""

import re
from itertools import product

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_COUNT = re.compile(r"([0-9]+)(?:\(x([0-9]+)\))?")


def expand_hosts(text: str) -> list[str]:
    """The node names of a node list, in its order: "n[9-10]" is n9, n10.

    Raises:
        ValueError: with a clause that says what cannot be read.
    """
    return [host for part in _split(text) for host in _expand_part(part)]


def expand_counts(text: str) -> list[int]:
    """The numbers of a list of repeated numbers: "2(x3),1" is 2, 2, 2, 1.

    Raises:
        ValueError: with a clause that says what cannot be read.
    """
    counts: list[int] = []
    for part in text.split(","):
        found = _COUNT.fullmatch(part)
        if not found:
            raise ValueError(f"{part!r} is no count like 2 or 2(x3)")
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


def _split(text: str) -> list[str]:
    """At the commas that are not in brackets."""
    parts = re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text)
    if not parts or ",".join(parts) != text:
        raise ValueError(f"{text!r} is no node list like n[1-3],n7")
    return parts


def _expand_part(part: str) -> list[str]:
    pieces = re.split(r"\[([^\]]*)\]", part)  # names at even positions, ranges at odd ones
    choices = [_expand_ranges(p) if i % 2 else [p] for i, p in enumerate(pieces)]
    return ["".join(choice) for choice in product(*choices)]


def _expand_ranges(text: str) -> list[str]:
    numbers: list[str] = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if not found:
            raise ValueError(f"{part!r} is no range like 1-3")
        low, high = found[1], found[2] or found[1]
        if int(high) < int(low):
            raise ValueError(f"{part!r} is a range that ends before it begins")
        # "08-11" keeps its zeros, "8-11" has none.
        numbers += [f"{number:0{len(low)}d}" for number in range(int(low), int(high) + 1)]
    return numbers
