"""Which steps are meant by a text such as "10:20"?"""

import re

from tfdist.errors import UsageError


def parse(name: str, text: str) -> tuple[int, int]:
    """Return the first step and the one after the last.

    Args:
        name: Of the flag, for the message.
        text: Such as "10:20".

    Raises:
        UsageError: it is none such.
    """
    found = re.fullmatch(r"(\d+):(\d+)", text)
    first, end = map(int, found.groups()) if found else (0, 0)
    if first >= end:
        raise UsageError(
            f"{name} is {text!r}: give the first step and the one after the last, such as 10:20"
        )
    return first, end
