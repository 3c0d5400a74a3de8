"""Writes docs/flags.md from what --help of each command says: `python -m tests.flags_page`."""

import contextlib
import io
from importlib import import_module
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "flags.md"
DOORS = {
    "train": "tfdist.train",
    "verify": "tfdist.verify",
    "estimate": "tfdist.estimate",
    "data": "tfdist.data.__main__",
    "bench": "tfdist.bench",
    "doctor": "tfdist.doctor",
    "launch": "tfdist.launch.__main__",
}
_HEAD = """\
# Commands and flags

What `--help` of each command says. Flags are written `--name=value`; `[...]` is what holds without
them, and `--flagfile=FILE` reads them from a file. `tfdist plot`, `timeline`, `demo` and `cluster`
have few, which their `--help` shows.
"""


def page() -> str:
    """Return the whole page."""
    train = _help("train")
    parts = [_HEAD]
    for name in DOORS:
        own = [each for each in _help(name) if name == "train" or each not in train]
        parts.append(f"## tfdist {name}\n\n```text\n" + "\n\n".join(own) + "\n```\n")
        if shared := [e.partition(":")[0] for e in _help(name) if e not in own]:
            parts.append(f"As of `train`: {'; '.join(shared)}.\n")
    return "\n".join(parts)


def _help(name: str) -> list[str]:
    """The paragraphs of a command's help, without the last, which is the same in all."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert import_module(DOORS[name]).main(["--help"]) == 0
    return said.getvalue().rstrip().split("\n\n")[:-1]


if __name__ == "__main__":
    PAGE.write_text(page())
