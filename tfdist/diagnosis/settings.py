"""What the doctor is told: its flags, checked as soon as they are known."""

from dataclasses import dataclass, field
from typing import Any

from tfdist.errors import UsageError


def _flag(default: Any, value: str, meaning: str) -> Any:
    return field(
        default=default, metadata={"group": "What is examined", "value": value, "help": meaning}
    )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything the doctor is told; each field is a flag of `python -m tfdist.doctor`.

    Raises:
        UsageError: a value is wrong.
    """

    tf_config: str | None = _flag(
        None, "FILE", "with the JSON of TF_CONFIG, instead of the cluster of the environment"
    )
    checkpoint_dir: str | None = _flag(
        None, "FOLDER", "to be written by all tasks, and the same for all"
    )
    numeric: bool = _flag(
        False, "", "train a small model on two replicas and on one, and compare the weights"
    )
    wait_seconds: float = _flag(20.0, "SECONDS", "for the doctors of the other tasks")
    json: bool = _flag(False, "", "print the report as one JSON object")

    def __post_init__(self) -> None:
        if not self.wait_seconds > 0:
            raise UsageError(f"--wait_seconds is {self.wait_seconds}, but must be more than 0")
