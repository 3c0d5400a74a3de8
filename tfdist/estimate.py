"""The door to estimates: `python -m tfdist.estimate`, what a training would hold in memory."""

import sys
from collections.abc import Sequence

from tfdist.cluster import resolve
from tfdist.errors import EXIT_DONE, EXIT_FAILED
from tfdist.memory.settings import EstimateSettings
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse
from tfdist.run.loading import load_tensorflow

_USAGE = "python -m tfdist.estimate --global_batch_size=N [--flag=value ...]"
_SUMMARY = """\
Say what each device and task of a training would hold in memory under each
strategy, whether it fits, and how large a batch would. One step is traced and
none is run. The flags are those of python -m tfdist.train; what they say on how
long to train, what to save and what to show changes nothing here. Exit code 0:
it fits, 1: it does not, 2: wrong usage."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        _write(help_text(EstimateSettings, _USAGE, _SUMMARY))
        return EXIT_DONE
    settings, cluster = parse(EstimateSettings, words), resolve()
    load_tensorflow()
    from tfdist.memory import estimate

    report = estimate.run(settings, cluster)
    _write(report.as_json() if settings.json else str(report))
    return EXIT_DONE if report.fits else EXIT_FAILED


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
