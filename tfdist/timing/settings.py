"""What a measurement is told: its flags."""

from __future__ import annotations

from dataclasses import dataclass

from tfdist.data.flags import flag
from tfdist.errors import UsageError
from tfdist.models import NAMES as MODELS

TRANSPORTS = ("ring", "mpi")
STRATEGIES = ("multi_worker", "mirrored", "central_storage", "parameter_server")
_WHAT, _HOW = "What is measured", "How"
_UNITS = {"K": 10**3, "M": 10**6}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything a measurement is told; each field is a flag of `python -m tfdist.bench`.

    Raises:
        UsageError: a value is wrong.
    """

    model: str = flag("mlp", _WHAT, "NAME", f"for scaling and loop: {', '.join(MODELS)}")
    global_batch_size: int = flag(128, _WHAT, "N", "examples in a step over all tasks")
    tasks: int = flag(2, _WHAT, "N", "for scaling from 1 task to N; for allreduce N tasks")
    transports: str = flag("ring,mpi", _WHAT, "LIST", "how values travel between tasks")
    strategies: str = flag(
        "multi_worker",
        _WHAT,
        "LIST",
        "for scaling: multi_worker by each transport; mirrored and central_storage, a logical CPU "
        "for a task; parameter_server, one server beside the workers and the chief",
    )
    sizes: str = flag("4K,1M,16M", _WHAT, "LIST", "for allreduce: bytes in one step")
    buckets: str = flag("4M", _WHAT, "LIST", "for allreduce: bytes of one value; sums of several")
    rounds: int = flag(3, _HOW, "N", "times each is measured, in alternating order; medians count")
    seconds: float = flag(2.0, _HOW, "S", "of each measurement, after warming up")
    json: str | None = flag(None, _HOW, "FILE", "to write all figures to")
    plot: str | None = flag(None, _HOW, "FILE", "to draw scaling to, such as scaling.png")

    def __post_init__(self) -> None:
        for name in ("global_batch_size", "tasks", "rounds", "seconds"):
            if not getattr(self, name) > 0:
                raise UsageError(f"--{name} is {getattr(self, name)}, but must be above 0")
        for name, known in (("transports", TRANSPORTS), ("strategies", STRATEGIES)):
            unknown = set(getattr(self, name).split(",")) - set(known)
            if unknown:
                raise UsageError(
                    f"--{name} has {', '.join(sorted(unknown))}: give some of {', '.join(known)}"
                )
        self.bytes_of("sizes")
        self.bytes_of("buckets")

    @property
    def roads(self) -> list[str]:
        """The transports to be measured."""
        return self.transports.split(",")

    @property
    def ways(self) -> list[tuple[str, str]]:
        """The strategies to be measured, each with a transport, "none" where it has no choice."""
        several = [("multi_worker", road) for road in self.roads]
        return [
            way
            for name in self.strategies.split(",")
            for way in (several if name == "multi_worker" else [(name, "none")])
        ]

    def bytes_of(self, name: str) -> list[int]:
        """The numbers of bytes that a flag lists: 4K is 4,000."""
        text = getattr(self, name)
        try:
            found = [int(float(t.rstrip("KM")) * _UNITS.get(t[-1:], 1)) for t in text.split(",")]
        except ValueError:
            found = []
        if not found or min(found) < 4:
            raise UsageError(f"--{name} is {text!r}: give numbers of bytes such as 4K,1M")
        return found
