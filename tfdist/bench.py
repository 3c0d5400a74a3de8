"""The door to measurements: `python -m tfdist.bench scaling|allreduce|loop`."""

import json
import sys
from collections.abc import Sequence

from tfdist import names
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.progress.needs import need, need_file
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse
from tfdist.timing import plot, report
from tfdist.timing.rounds import rows
from tfdist.timing.settings import Settings

KINDS = ("scaling", "allreduce", "loop")
_USAGE = "python -m tfdist.bench scaling|allreduce|loop [--flag=value ...]"
_SUMMARY = """\
scaling: examples/s over 1 to N tasks of this machine, and what a step spends on
input, computing and exchange; allreduce: a sum over the tasks by size, inside a
step, beside MPI alone; loop: a step beside one of Keras' own fit."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        sys.stdout.write(help_text(Settings, _USAGE, _SUMMARY) + "\n")
        return EXIT_DONE
    if not words or words[0] not in KINDS:
        close = names.suggestion(words[0], KINDS) if words else ""
        raise UsageError(f"what is to be measured? give one of {', '.join(KINDS)}{close}")
    kind, settings = words[0], parse(Settings, words[1:])
    _check_outputs(kind, settings)
    found = rows(kind, settings)
    sys.stdout.write("\n".join(report.lines(kind, found)) + "\n")
    if settings.json:
        with open(settings.json, "w") as file:
            json.dump({"kind": kind, "rows": found}, file, indent=1)
    if settings.plot:
        plot.draw(found, settings.plot)
    return EXIT_DONE


def _check_outputs(kind: str, settings: Settings) -> None:
    if settings.json:
        need_file("--json", settings.json)
    if settings.plot:
        need("matplotlib", extra="plot", purpose="--plot")
        need_file("--plot", settings.plot, ".png", ".svg", ".pdf")
        if kind != "scaling":
            raise UsageError(f"--plot draws scaling, and {kind} was asked for: leave it out")


if __name__ == "__main__":
    sys.exit(main())
