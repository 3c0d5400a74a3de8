"""What a verification is told: the flags of training, and two more."""

from dataclasses import dataclass, field

from tfdist.errors import UsageError
from tfdist.run import Settings

_GROUP = "How it is verified"
STEPS = 20


@dataclass(frozen=True, kw_only=True)
class VerifySettings(Settings):
    """Everything a verification is told; each field is a flag of `python -m tfdist.verify`.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    steps: int = field(
        default=STEPS,
        metadata={"group": _GROUP, "value": "N", "help": "steps to train, the last one uneven"},
    )
    json: bool = field(
        default=False,
        metadata={"group": _GROUP, "value": "", "help": "print the report as one JSON object"},
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_steps("--steps", self.steps)


def check_steps(name: str, steps: int) -> None:
    """Raise UsageError unless the number of steps can be made."""
    if not isinstance(steps, int) or steps < 1:
        raise UsageError(f"{name} is {steps!r}, but must be 1 or more: give one such as {STEPS}")
