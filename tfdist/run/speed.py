"""How a training run is made fast: flags for the road of the gradients and the learning rate."""

from __future__ import annotations

from dataclasses import dataclass

from tfdist import names
from tfdist.data.flags import flag
from tfdist.errors import UsageError
from tfdist.factory.multi_worker import TRANSPORTS
from tfdist.factory.wire import COMPRESSIONS

JITS = ("auto", "on", "off")
SCALINGS = ("none", "linear", "sqrt")
SYNCS = ("every_step", "local")
_GROUP = "How fast"


@dataclass(frozen=True, kw_only=True)
class SpeedFlags:
    """What makes a training fast; each field is a flag of `python -m tfdist.train`.

    Raises:
        UsageError: a value is wrong.
    """

    transport: str = flag(
        "auto",
        _GROUP,
        "NAME",
        "how gradients travel between workers: ring, nccl, mpi; auto: the fastest that is there",
    )
    compression: str = flag(
        "none",
        _GROUP,
        "TYPE",
        "of gradients between workers: none; factors: those of large Dense layers as the two "
        "matrices they are made of; bf16 or fp16: in 16 bits, added up in float32; or both, as in "
        "factors+bf16",
    )
    jit: str = flag(
        "off",
        _GROUP,
        "WHEN",
        "compile the step by XLA: on, off; auto: try it on the first batch, and take it if it is "
        "faster",
    )
    lr_scaling: str = flag(
        "none",
        _GROUP,
        "RULE",
        "learning_rate is that of one replica; for all: linear, times their number; sqrt, times "
        "its root",
    )
    warmup_steps: int = flag(0, _GROUP, "N", "steps in which the learning rate rises to its value")
    accumulate_steps: int = flag(
        1, _GROUP, "N", "steps whose mean gradient makes one update, for a batch that does not fit"
    )

    sync: str = flag(
        "every_step",
        _GROUP,
        "HOW",
        "every_step: workers exchange gradients; local: they train apart and average weights",
    )
    sync_period: int | None = flag(
        None, _GROUP, "N", "with --sync=local: steps from one averaging to the next"
    )

    def __post_init__(self) -> None:
        for name, choices in (
            ("transport", TRANSPORTS),
            ("compression", COMPRESSIONS),
            ("jit", JITS),
            ("lr_scaling", SCALINGS),
            ("sync", SYNCS),
        ):
            _check_choice(name, getattr(self, name), choices)
        _check_least("warmup_steps", self.warmup_steps, 0)
        _check_least("accumulate_steps", self.accumulate_steps, 1)
        self._check_sync()

    def _check_sync(self) -> None:
        if self.sync_period is not None:
            _check_least("sync_period", self.sync_period, 1)
        if (self.sync == "local") != (self.sync_period is not None):
            raise UsageError(
                f"--sync is {self.sync!r} and --sync_period is {self.sync_period}: give "
                "--sync=local and --sync_period (such as 16) together, or neither"
            )

    def rate_factor(self, replicas: int) -> float:
        """What the learning rate of one replica is multiplied by for so many."""
        return {"none": 1.0, "linear": float(replicas), "sqrt": replicas**0.5}[self.lr_scaling]


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        close = names.suggestion(value, choices)
        raise UsageError(f"--{name} is {value!r}: give one of {', '.join(choices)}{close}")


def _check_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise UsageError(f"--{name} is {value}, but must be {least} or more: give a larger number")
