"""How gradients travel between the workers of a strategy: by which road, in how many bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from tfdist.errors import UsageError

if TYPE_CHECKING:
    import tensorflow as tf

FACTORS = "factors"
COMPRESSIONS = ("none", FACTORS, "bf16", "fp16", f"{FACTORS}+bf16", f"{FACTORS}+fp16")


@dataclass(frozen=True)
class Wire:
    """What a strategy over several workers was given.

    Attributes:
        road: The transport, and why where it was chosen: "ring, because 4 MB take ...".
        compression: One of `COMPRESSIONS`.
    """

    road: str
    compression: str = "none"

    @property
    def factors(self) -> bool:
        """Whether gradients of large Dense kernels travel as the two matrices they are made of."""
        return FACTORS in self.compression.split("+")

    @property
    def bits(self) -> str:
        """What is sent in 16 bits as: "bf16" or "fp16", "" where it is sent in float32."""
        last = self.compression.split("+")[-1]
        return "" if last in ("none", FACTORS) else last


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
