"""The door to timelines: `python -m tfdist.timeline LOG_DIR`, the traces of all tasks as one."""

import sys
from collections.abc import Sequence

from tfdist.arguments import Parser
from tfdist.errors import EXIT_DONE
from tfdist.progress.needs import need_file
from tfdist.run.door import answer


def main(words: Sequence[str] | None = None) -> int:
    """Run the command with these words, by default those of the command line."""
    return answer(lambda: _run(words))


def _run(words: Sequence[str] | None) -> int:
    parser = Parser(
        prog="python -m tfdist.timeline",
        description="Join the traces of several tasks in one timeline, for Perfetto.",
    )
    parser.add_argument("log_dir", metavar="LOG_DIR", help="of a run with --profile_steps")
    parser.add_argument(
        "--out", default="timeline.json.gz", help="file to write [timeline.json.gz]"
    )
    given = parser.parse_args(words)
    return _join(given.log_dir, given.out)


def _join(log_dir: str, out: str) -> int:
    need_file("--out", out, ".gz")
    from tfdist.progress import timeline
    from tfdist.run.loading import load_tensorflow

    load_tensorflow()
    tasks = timeline.write(log_dir, out)
    sys.stdout.write(f"{out}: {', '.join(tasks)}\n")
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
