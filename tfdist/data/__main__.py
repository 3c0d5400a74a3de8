"""The door to the data: `python -m tfdist.data`, which audits or measures what is trained on."""

import sys
from collections.abc import Sequence
from importlib import import_module

from tfdist.cluster import resolve
from tfdist.data.settings import Settings
from tfdist.errors import EXIT_DONE
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse

_USAGE = "python -m tfdist.data --audit|--bench --dataset=NAME [--flag=value ...]"
_SUMMARY = """\
--audit reads one pass without training, as so many workers would or, in every task
of a cluster, over the whole cluster; it ends with code 1 when something is wrong.
--bench measures how fast the examples come, stage by stage."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        sys.stdout.write(help_text(Settings, _USAGE, _SUMMARY) + "\n")
        return EXIT_DONE
    settings = parse(Settings, words)
    cluster = resolve()
    what = "audit" if settings.audit else "bench"
    return import_module(f"tfdist.data.{what}.command").run(settings, cluster)


if __name__ == "__main__":
    sys.exit(main())
