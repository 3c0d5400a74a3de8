"""The door to pictures: `python -m tfdist.plot RUN...`, from what runs left to a file."""

import sys
from collections.abc import Sequence
from pathlib import Path

from tfdist.arguments import Parser
from tfdist.errors import EXIT_DONE
from tfdist.plotting import draw, runs
from tfdist.progress.needs import need, need_file
from tfdist.run.door import answer

_KINDS = (".png", ".svg", ".pdf")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    return answer(lambda: _run(words))


def _run(words: Sequence[str] | None) -> int:
    parser = Parser(
        prog="python -m tfdist.plot",
        description="Draw loss and metrics of several runs, or how they scale.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a --log_dir, or a run's output")
    parser.add_argument("--out", default="runs.png", help="file to write, .png or .svg [runs.png]")
    parser.add_argument("--scaling", action="store_true", help="examples/s over replicas instead")
    given = parser.parse_args(words)
    return _plot(given.runs, Path(given.out), given.scaling)


def _plot(paths: Sequence[str], out: Path, scales: bool) -> int:
    need("matplotlib", extra="plot", purpose="tfdist.plot")
    need_file("--out", str(out), *_KINDS)
    found = [runs.read(path) for path in paths]
    (draw.scaling if scales else draw.curves)(found).savefig(out)
    sys.stdout.write(f"{out}\n")
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
