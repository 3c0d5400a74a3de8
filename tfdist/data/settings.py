"""What `python -m tfdist.data` is told: its flags, checked before TensorFlow is loaded."""

from dataclasses import dataclass
from typing import Any

from tfdist.data.flags import DataFlags
from tfdist.data.flags import flag as _flag
from tfdist.data.order import Order
from tfdist.errors import UsageError

_DONE, _BATCHES, _BY = "What is done", "In which batches", "By whom"


@dataclass(frozen=True, kw_only=True)
class Settings(DataFlags):
    """Everything the command is told; each field is a flag.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    audit: bool = _flag(False, _DONE, "", "whether each example is read exactly once, by whom")
    bench: bool = _flag(False, _DONE, "", "how fast examples are read, and what the limit is")
    global_batch_size: int = _flag(64, _BATCHES, "N", "examples in a batch over all replicas")
    seed: int = _flag(0, _BATCHES, "N", "of the order")
    workers: int | None = _flag(
        None, _BY, "N", "simulated in this process [1, or the tasks of the cluster]"
    )
    replicas_per_worker: int = _flag(1, _BY, "N", "among which each worker divides its part")
    model: str | None = _flag(
        None, _BY, "NAME", "whose appetite is measured beside the pipeline [none]"
    )
    seconds: float = _flag(2.0, _BY, "S", "for each measurement of --bench")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.audit == self.bench:
            given = "both --audit and --bench were" if self.audit else "nothing to do was"
            raise UsageError(f"{given} given: give one of --audit and --bench")
        for name in ("workers", "replicas_per_worker"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(
                    f"--{name} is {value}, but must be 1 or more: give a larger number"
                )
        if not self.seconds > 0:
            raise UsageError(
                f"--seconds is {self.seconds}, but must be above 0: give one such as 2"
            )
        self.order()

    def order(self, **others: Any) -> Order:
        """In which order examples are read."""
        return self.in_order(self.global_batch_size, self.seed, **others)
