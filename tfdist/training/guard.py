"""What surrounds fit, evaluate and predict: told to the other tasks, as their errors are."""

from collections.abc import Callable
from typing import Any

from tfdist.cluster.pulse import PULSE
from tfdist.factory.failures import translated


def guarded(function: Callable, name: str) -> Callable:
    """Return a function as the method of a model with this name."""
    name = f"{name}()"

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with translated(), PULSE.doing(f"is in {name}", together=True):
                result = function(*args, **kwargs)
        except BaseException as error:
            # The others need not wait as long for it as for what goes on.
            PULSE.leave(f"has left {name} by {type(error).__name__}: {error}", patience=1)
            raise
        PULSE.leave(f"is behind {name}")
        return result

    return call
