"""What an estimate is told: the flags of training, and one more."""

from dataclasses import dataclass

from tfdist.data.flags import flag
from tfdist.run import Settings


@dataclass(frozen=True, kw_only=True)
class EstimateSettings(Settings):
    """Everything an estimate is told; each field is a flag of `python -m tfdist.estimate`.

    Raises:
        UsageError: a value is wrong, or two do not go together.
    """

    json: bool = flag(False, "How it is shown", "", "print the estimate as one JSON object")
