"""How are files turned into examples?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tfdist.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What holds for all datasets but those of a function of the user's.

    Attributes:
        image_size: height and width, in pixels, to which encoded images are resized.
        channels: 3 for colour, 1 for grey.
        validation_fraction: part of the examples that is held out for validation where the files
            have no validation part of their own. Always the same examples, whatever the seed of a
            run, so that no run is validated on what another one was trained on.
        max_bad_examples: examples that may be left out because they cannot be read.
        cache: where examples are kept once they were read: "none", "memory", "auto" (in memory when
            all take less than 256 MiB), or a folder on a local disk.

    Raises:
        UsageError: a value is out of range.
    """

    image_size: tuple[int, int] = (224, 224)
    channels: int = 3
    validation_fraction: float = 0.2
    max_bad_examples: int = 0
    cache: str = "auto"

    def __post_init__(self) -> None:
        if len(self.image_size) != 2 or min(self.image_size) < 1:
            raise UsageError(f"--image_size is {self.image_size}: give pixels, as 224 or 224x160")
        if self.channels not in (1, 3):
            raise UsageError(f"--channels is {self.channels}: give 3 for colour or 1 for grey")
        if not 0 <= self.validation_fraction < 1:
            raise UsageError(
                f"--validation_fraction is {self.validation_fraction}: give a number from 0 to "
                "below 1, such as 0.2"
            )
        if self.max_bad_examples < 0:
            raise UsageError(f"--max_bad_examples is {self.max_bad_examples}: give 0 or more")


def parse_size(text: str, flag: str = "--image_size") -> tuple[int, int]:
    """Return (height, width) of "224" or "224x160", in pixels; `flag` is what gave it.

    Raises:
        UsageError: `text` has another form.
    """
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if found is None:
        raise UsageError(f"{flag} is {text!r}: give pixels, as 224 or 224x160")
    return int(found[1]), int(found[2] or found[1])
