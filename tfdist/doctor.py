"""The door to the doctor: `python -m tfdist.doctor`."""

import sys
from collections.abc import Sequence

from tfdist.diagnosis import Report, Settings, diagnose
from tfdist.errors import EXIT_DONE
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse

_USAGE = "python -m tfdist.doctor [--flag=value ...]"
_SUMMARY = """\
Say whether a training would run here, and what stands in its way: the cluster, the
strategy that would be chosen, and every check with its remedy. Run in all tasks of
a cluster at once it also measures between them, and the chief shows what all have
found. Exit code 0: nothing fails; 1: something fails; 2: wrong usage."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        sys.stdout.write(help_text(Settings, _USAGE, _SUMMARY) + "\n")
        return EXIT_DONE
    settings = parse(Settings, words)

    def show(report: Report) -> None:
        sys.stdout.write((report.as_json() if settings.json else str(report)) + "\n")
        sys.stdout.flush()

    return diagnose(settings, show).exit_code


if __name__ == "__main__":
    sys.exit(main())
