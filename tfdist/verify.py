"""The door to verification: `python -m tfdist.verify`, and `tfdist.verify(build, dataset)`.

The module itself can be called, because in `tfdist.verify` it and the function have one name.
"""

import sys
from collections.abc import Sequence
from types import ModuleType

from tfdist.cluster import resolve
from tfdist.errors import EXIT_DONE, UsageError
from tfdist.run.door import answer
from tfdist.run.flags import asks_for_help, help_text, parse
from tfdist.verification import run
from tfdist.verification import verify as _verify
from tfdist.verification.settings import VerifySettings

_USAGE = "python -m tfdist.verify --global_batch_size=N [--flag=value ...]"
_SUMMARY = """\
Train a few steps with plain Keras on one device and under a strategy, with the
same global batches, and compare: weights, losses, metrics. The flags are those
of python -m tfdist.train; what they say on how long to train, what to save and
what to show changes nothing here. In a cluster run the same command in every
task; the chief prints. Exit code 0: equal, or different only by design; 1:
different; 2: wrong usage."""


class _Door(ModuleType):
    __call__ = staticmethod(_verify)


verify = sys.modules[__name__]
verify.__class__ = _Door
__wrapped__ = _verify  # where inspect and notebooks look for the arguments


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    words = sys.argv[1:] if words is None else words
    return answer(lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    if asks_for_help(words):
        _write(help_text(VerifySettings, _USAGE, _SUMMARY))
        return EXIT_DONE
    settings = parse(VerifySettings, words)
    cluster = resolve()
    if cluster.is_evaluator:
        raise UsageError(
            f"{cluster.source} makes this process {cluster.task}, and an evaluator takes no part "
            "in training: start only the other tasks"
        )
    if settings.explain:
        from tfdist.factory import explain, plan

        _write(explain(plan(settings.strategy, settings.devices, cluster=cluster).choice))
        return EXIT_DONE
    report = run(settings, cluster)
    if cluster.is_chief:
        _write(report.as_json() if settings.json else str(report))
    return report.exit_code


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
