"""What does a name stand for: one of ours, or a function of the user's?"""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from tfdist.errors import UsageError


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'a' or 'b'?" for the known names close to `name`, or ""."""
    by_lower = {each.lower(): each for each in known}
    close = get_close_matches(name.lower(), by_lower, n=3)
    return f"; did you mean {' or '.join(repr(by_lower[each]) for each in close)}?" if close else ""


def is_function(name: str) -> bool:
    """Whether `name` has the form module:function."""
    return re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", name) is not None


def call(name: str, **offered: Any) -> Any:
    """Call the function named module:function with those of the `offered` arguments it takes.

    Raises:
        UsageError: no such module or function, or the function needs more than is offered.
    """
    function = _function(name)
    parameters = inspect.signature(function).parameters.values()
    _refuse_unknown_needs(name, parameters, offered)
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return function(**offered)
    names = {each.name for each in parameters}
    return function(**{key: value for key, value in offered.items() if key in names})


def _function(name: str) -> Callable[..., Any]:
    module_name, function_name = name.split(":")
    module = _module(name, module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        public = [each for each in vars(module) if callable(getattr(module, each))]
        raise UsageError(
            f"{name!r}: the module {module_name!r} has no function {function_name!r}"
            f"{suggestion(function_name, public) or ': give one that it has'}"
        )
    return function


def _module(name: str, module_name: str) -> Any:
    # A console script, unlike `python -m`, does not look for modules in the working directory.
    if not {"", os.getcwd()} & set(sys.path):
        sys.path.append(os.getcwd())
    try:
        return import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # The module is there; something that it imports is not.
        raise UsageError(
            f"{name!r}: no module named {error.name!r} was found in {os.getcwd()} or among the "
            "installed packages: run the command where the module is, or correct the name"
        ) from error


def _refuse_unknown_needs(name: str, parameters: Iterable[Any], offered: dict[str, Any]) -> None:
    needed = [
        each.name
        for each in parameters
        if each.default is each.empty
        and each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    ]
    missing = [each for each in needed if each not in offered]
    if missing:
        raise UsageError(
            f"{name!r} needs the argument {missing[0]!r}, but is offered only "
            f"{', '.join(offered)}: give {missing[0]!r} a default value"
        )
