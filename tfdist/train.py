"""The door to training: `python -m tfdist.train`, from flags to one run."""

import sys
from collections.abc import Sequence

from tfdist.checkpoint.signals import Watch
from tfdist.cluster import resolve
from tfdist.errors import EXIT_DONE
from tfdist.run import Settings, train
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse

_USAGE = "python -m tfdist.train --global_batch_size=N [--flag=value ...]"
_SUMMARY = """\
Train a Keras model on one device or on a cluster, with the numbers of one device.
In a cluster (TF_CONFIG) run the same command in every task. The last line on
standard output is the run record, one JSON object."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        _write(help_text(Settings, _USAGE, _SUMMARY))
        return EXIT_DONE
    settings = parse(Settings, words)
    cluster = resolve()
    if settings.explain:
        from tfdist.factory import explain, plan

        _write(explain(plan(settings.strategy, settings.devices, cluster=cluster).choice))
        return EXIT_DONE
    if settings.checkpoint_dir is not None and not cluster.is_evaluator:
        Watch(grace_seconds=0).start()  # until training begins and there is something to save
    record = train(settings, cluster)
    from tfdist.run.record import as_line

    _write(as_line(record))
    return EXIT_DONE


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
