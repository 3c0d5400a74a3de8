"""From the words of a command line to its settings, through absl flags of their own."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import Field, fields
from typing import Any, get_args, get_type_hints

from absl import flags

from tfdist import names
from tfdist.errors import UsageError

_HELP = {"--help", "-help", "-h"}
_WIDTH = 80
_COLUMN = 32


class _Number(flags.ArgumentParser):
    def __init__(self, kind: type, expected: str) -> None:
        self._kind = kind
        self._expected = expected

    def parse(self, argument: Any) -> Any:
        try:
            return self._kind(argument)
        except ValueError:
            raise ValueError(self._expected) from None


_PARSERS = {
    str: flags.ArgumentParser(),
    int: _Number(int, "a whole number is expected, such as 10"),
    float: _Number(float, "a number is expected, such as 0.001"),
}


def asks_for_help(words: Sequence[str]) -> bool:
    """Whether these words of a command line ask for help."""
    return bool(_HELP & set(words))


def parse(kind: type, words: Sequence[str]) -> Any:
    """Make the settings dataclass `kind` from the words behind the command's name.

    --flagfile=FILE stands for the flags in a file, one a line; of a flag given twice the last wins.

    Raises:
        UsageError: a flag is unknown or has a wrong value.
    """
    values = _flags(kind)
    try:
        rest = values(["", *words])[1:]
    except (flags.Error, ValueError) as error:
        raise UsageError(_sentence(error, kind)) from None
    if rest:
        raise UsageError(f"{rest[0]!r} was not understood: write flags as --name=value")
    return kind(**{each.name: values[each.name].value for each in fields(kind)})


def help_text(kind: type, usage: str, summary: str) -> str:
    """Show the flags of a settings dataclass by their groups, its own first, with [defaults]."""
    lines = [f"usage: {usage}", "", summary]
    group = None
    for each in sorted(fields(kind), key=lambda each: each.name not in kind.__annotations__):
        if each.metadata["group"] != group:
            group = each.metadata["group"]
            lines += ["", f"{group}:"]
        lines.append(_described(each))
    lines += ["", "And:", _row("--flagfile=FILE", "read flags from a file, one a line")]
    return "\n".join(lines)


def _flags(kind: type) -> flags.FlagValues:
    # Not the flags of the whole process: absl's own and other packages' are none of this command's.
    values = flags.FlagValues()
    values.set_gnu_getopt(True)
    types = get_type_hints(kind)  # of what it inherits too
    for each in fields(kind):
        if types[each.name] is bool:
            flags.DEFINE_boolean(each.name, each.default, "", flag_values=values)
            continue
        of_value = (*get_args(types[each.name]), types[each.name])[0]
        flags.DEFINE(_PARSERS[of_value], each.name, each.default, "", flag_values=values)
    return values


def _sentence(error: Exception, kind: type) -> str:
    if isinstance(error, flags.UnrecognizedFlagError):
        # Compared without their dashes, which would make short flags look alike.
        close = names.suggestion(error.flagname, [*(e.name for e in fields(kind)), "flagfile"])
        close = re.sub(r"'(\w+)'", r"'--\1'", close)
        return f"--{error.flagname} is no flag{close or ': --help shows those there are'}"
    if isinstance(error, flags.CantOpenFlagFileError):
        cause = error.__context__
        return f"--flagfile cannot be read ({cause}): give the name of a text file"
    text = str(error).removeprefix("flag ")
    if "Non-boolean" in text:
        return f"{text.partition(':')[0]}: give the flag alone, or with true or false"
    return text if "=" in text else f"{text}: write flags as --name=value"


def _described(each: Field) -> str:
    value, meaning = each.metadata["value"], each.metadata["help"]
    if each.default is not None and each.default is not False:
        meaning += f" [{each.default}]"
    return _row(f"--{each.name}" + (f"={value}" if value else ""), meaning)


def _row(flag: str, meaning: str) -> str:
    lines = textwrap.wrap(meaning, _WIDTH - _COLUMN, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines), " " * _COLUMN).replace(
        " " * _COLUMN, f"  {flag:<{_COLUMN - 2}}", 1
    )
