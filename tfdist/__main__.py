"""The command `tfdist`: one word chooses the door, the rest goes to it."""

import sys
from collections.abc import Sequence
from importlib import import_module

import tfdist
from tfdist import names
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.run.door import answer

# Word: the module whose main() it is, and what it does.
_DOORS = {
    "train": ("tfdist.train", "train a model on one device or on a cluster"),
    "verify": ("tfdist.verify", "compare a strategy with one device on your own model"),
    "estimate": ("tfdist.estimate", "say what a training would hold in memory, and if it fits"),
    "data": ("tfdist.data.__main__", "audit a dataset, or measure its pipeline"),
    "doctor": ("tfdist.doctor", "say whether a training would run here, and what is in its way"),
    "launch": ("tfdist.launch.__main__", "start all tasks of a cluster and watch them"),
    "plot": ("tfdist.plot", "draw loss and metrics of several runs, or how they scale"),
    "timeline": ("tfdist.timeline", "join the traces of several tasks in one timeline"),
    "bench": ("tfdist.bench", "measure scaling, the exchange between tasks, and the loop"),
    "demo": ("tfdist.demo", "train the digits under every strategy and compare"),
    "cluster": ("tfdist.cluster.__main__", "print the cluster that this process is in"),
}
_HELP = {"--help", "-help", "-h", "help"}


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if not words or words[0] in _HELP:
        sys.stdout.write(_help())
        return EXIT_DONE
    if words[0] == "--version":
        sys.stdout.write(f"tfdist {tfdist.__version__}\n")
        return EXIT_DONE
    if words[0] not in _DOORS:
        close = names.suggestion(words[0], _DOORS)
        raise UsageError(
            f"tfdist has no command {words[0]!r}{close or ': give one of ' + ', '.join(_DOORS)}"
        )
    return import_module(_DOORS[words[0]][0]).main(list(words[1:]))


def _help() -> str:
    lines = [f"  {word:<10} {meaning}" for word, (_, meaning) in _DOORS.items()]
    return "\n".join(
        [
            "usage: tfdist COMMAND [--flag=value ...]",
            "",
            f"{tfdist.__doc__}",
            "",
            *lines,
            "",
            "tfdist COMMAND --help shows the flags of a command.",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
