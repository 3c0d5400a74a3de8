"""How gradients travel between the workers of a strategy: by which road, in how many bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tfdist.errors import UsageError

if TYPE_CHECKING:
    import tensorflow as tf

COMPRESSIONS = ("none", "factors", "bf16", "fp16")


@dataclass(frozen=True)
class Wire:
    """What a strategy over several workers was given.

    Attributes:
        road: The transport, and why where it was chosen: "ring, because 4 MB take ...".
        compression: One of `COMPRESSIONS`.
    """

    road: str
    compression: str = "none"


_wires: WeakKeyDictionary[tf.distribute.Strategy, Wire] = WeakKeyDictionary()


def check_compression(compression: str, transport: str) -> None:
    """Refuse a compression that is unknown, or that the transport has not.

    Raises:
        UsageError: it is one of these.
    """
    if compression not in COMPRESSIONS:
        raise UsageError(
            f"compression {compression!r} is unknown: choose one of {', '.join(COMPRESSIONS)}."
        )
    if compression != "none" and transport == "nccl":
        raise UsageError(
            f"compression {compression!r} was asked for with transport 'nccl', which sends whole "
            "gradients in float32: use ring or mpi, or compression 'none'."
        )


def lay(strategy: tf.distribute.Strategy, wire: Wire) -> None:
    """Note how the gradients of a strategy travel."""
    _wires[strategy] = wire


def wire_of(strategy: tf.distribute.Strategy) -> Wire | None:
    """Return how the gradients of a strategy travel, None where they do not leave the process."""
    return _wires.get(strategy)
