"""In which order are the examples of a run read? The same in every task, and in every run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tfdist.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Order:
    """How the examples of a training run are put in order.

    Attributes:
        global_batch_size: examples in a batch; the last one of a pass has what is left.
        seed: the order of each pass follows from it and from the number of the pass.
        shuffle: False reads the examples in their own order in each pass.
        drop_remainder: leave out the last batch of a pass when it is not full.
        goes_on: go on with the next pass without end, for epochs of a given number of steps;
            without it, each iteration over the dataset is the next pass.
        start_epoch: the pass that comes first.
        start_step: the batch of that pass that comes first, for a run that is resumed.

    Raises:
        UsageError: a number is out of range.
    """

    global_batch_size: int
    seed: int = 0
    shuffle: bool = True
    drop_remainder: bool = False
    goes_on: bool = False
    start_epoch: int = 0
    start_step: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("global_batch_size", 1),
            ("seed", 0),
            ("start_epoch", 0),
            ("start_step", 0),
        ):
            if getattr(self, name) < least:
                raise UsageError(
                    f"{name} is {getattr(self, name)}, but must be {least} or more: give a larger "
                    "number"
                )

    def steps(self, examples: int) -> int:
        """Return the number of batches in one pass."""
        whole, rest = divmod(examples, self.global_batch_size)
        return whole + (rest > 0 and not self.drop_remainder)

    def normal(self, examples: int | None) -> Order:
        """Return the same order with a `start_step` within its pass, where that can be known."""
        steps = self.steps(examples or 0)
        if steps == 0:
            return self
        skipped, step = divmod(self.start_step, steps)
        return replace(self, start_epoch=self.start_epoch + skipped, start_step=step)
