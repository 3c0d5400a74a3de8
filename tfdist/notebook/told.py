"""What a task tells the notebook's bar of each `fit`."""

import json

from tfdist.progress.bar import MARK, Bar, share, words, write
from tfdist.progress.look import Look


class Told(Bar):
    """Writes each look of the chief as one object, in a line with a bar's mark."""

    def see(self, look: Look) -> None:
        """Tell how far it is."""
        if self.engine.is_chief:
            write(as_told(look))

    see_epoch = see


def as_told(look: Look) -> str:
    """A look as a line that `tfdist.notebook.widget` draws."""
    return f"{MARK}{json.dumps({'share': share(look), 'text': words(look)})}\n"
