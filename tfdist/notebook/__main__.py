"""A task of a notebook's cluster: `python -m tfdist.notebook FOLDER [bar]`, of `run`."""

import sys
from pathlib import Path

from tfdist.cluster import resolve
from tfdist.errors import EXIT_DONE, EXIT_FAILED, StartAgainError, UsageError
from tfdist.notebook import parcel
from tfdist.notebook.widget import ASKED
from tfdist.run.door import answer
from tfdist.run.loading import load_tensorflow


def main() -> int:
    """Call the function that was left in the folder, and leave its result or exception there."""
    folder, *asked = sys.argv[1:]
    return answer(lambda: _call(Path(folder), ASKED in asked))


def _call(folder: Path, has_bar: bool) -> int:
    task = resolve().task
    try:
        sys.path[:] = [*dict.fromkeys([*parcel.search_path(folder), *sys.path])]
        load_tensorflow()
        if has_bar:
            from tfdist.notebook.told import Told
            from tfdist.training.callbacks import WATCHING

            WATCHING.append(Told)
        value = parcel.call(folder)
        from tfdist.notebook.result import result_of

        parcel.give(folder, task, result_of(value))
    except (UsageError, StartAgainError) as error:
        parcel.give_error(folder, task, error)
        raise
    except Exception as error:
        parcel.give_error(folder, task, error)
        return EXIT_FAILED
    return EXIT_DONE


if __name__ == "__main__":
    sys.exit(main())
