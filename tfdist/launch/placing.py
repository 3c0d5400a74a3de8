"""Which hosts a user names, and which task runs on which of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfdist.cluster import Task
from tfdist.errors import UsageError

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.%]+\]|[\w.][^\s:,]*)(:(?P<slots>\d+))?")
_LINE = re.compile(r"(?P<host>\S+?)(\s+slots\s*=\s*(?P<slots>\d+))?(\s+max_slots.*)?")


def parse_hosts(text: str) -> dict[str, int]:
    """Return the number of tasks that each host of a text such as "h1,h2:4" has place for.

    Raises:
        UsageError: the text has another form, or a host twice.
    """
    return _hosts([part.strip() for part in text.split(",")], "--hosts")


def read_hostfile(file: Path) -> dict[str, int]:
    """Return the same from a file with a host a line: "h2", "h2:4" or "h2 slots=4".

    Raises:
        UsageError: it cannot be read, or a line has another form.
    """
    try:
        lines = [line.partition("#")[0].strip() for line in file.read_text().splitlines()]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"--hostfile cannot be read ({error}): give a text file") from None
    return _hosts([_short(line) for line in lines if line], f"--hostfile={file}")


def place(tasks: Sequence[Task], hosts: Mapping[str, int]) -> dict[Task, str]:
    """Return the host of each task: the first ones fill the first host.

    Raises:
        UsageError: there are more tasks than places.
    """
    places = [name for name, slots in hosts.items() for _ in range(slots)]
    if len(tasks) > len(places):
        named = ",".join(f"{name}:{slots}" for name, slots in hosts.items())
        raise UsageError(
            f"{len(tasks)} tasks do not fit on {named}: give hosts for more, or fewer tasks"
        )
    return dict(zip(tasks, places, strict=False))


def _hosts(parts: Sequence[str], source: str) -> dict[str, int]:
    hosts: dict[str, int] = {}
    for part in parts:
        found = _HOST.fullmatch(part)
        if found is None or found["slots"] == "0":
            raise UsageError(
                f"{source} has {part!r} where a host is expected, alone or with the number of its "
                "tasks: write it like h1,h2:4"
            )
        name = found["name"].strip("[]")
        if name in hosts:
            raise UsageError(f"{source} has the host {name!r} twice: write {name}:2 for two tasks")
        hosts[name] = int(found["slots"] or 1)
    if not hosts:
        raise UsageError(f"{source} names no host: write one a line, like h2 slots=4")
    return hosts


def _short(line: str) -> str:
    found = _LINE.fullmatch(line)
    if found is None or not found["slots"]:
        return line
    return f"{found['host']}:{found['slots']}"
