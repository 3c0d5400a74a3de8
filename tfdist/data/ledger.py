"""How many examples does each replica read, in how many steps?"""

from dataclasses import dataclass

from tfdist.data.split import rows
from tfdist.errors import UsageError


@dataclass(frozen=True)
class Ledger:
    """The account of one epoch; None stands for what is not known before the data is read."""

    global_batch: int  # Examples in one step over all replicas.
    per_replica: str  # Examples of the fullest step on one replica: "16", or "16 or 17".
    steps_per_epoch: int | None
    examples: int | None  # Examples in the dataset.
    dropped: int | None  # Examples of the dataset that an epoch leaves out.
    drop_remainder: bool = False  # Whether a last batch that is not full is left out.
    declared: bool = False  # Whether each worker has batches of its own, of sizes of its own.

    @property
    def steps_per_pass(self) -> int | None:
        """Steps in which the data is read once."""
        return _steps(self.examples, self.global_batch, self.drop_remainder)

    def examples_in(self, steps: int) -> int | None:
        """Examples in so many steps over data that begins again after its last batch."""
        if self.examples is None or self.steps_per_pass is None:
            return None
        passes, rest = divmod(steps, self.steps_per_pass)
        of_pass = min(self.examples, self.steps_per_pass * self.global_batch)
        return passes * of_pass + min(rest * self.global_batch, of_pass)


def ledger(
    examples: int | None,
    global_batch_size: int,
    replicas: int,
    steps_per_epoch: int | None = None,
    drop_remainder: bool = False,
) -> Ledger:
    """Account for one epoch over `examples` in steps of `global_batch_size` on `replicas`.

    No example is dropped unless `steps_per_epoch` stops an epoch early or `drop_remainder` says so;
    with `steps_per_epoch` beyond the data an epoch starts the data again.

    Args:
        examples: number of examples in the dataset, None when it is not known.
        global_batch_size: examples in one step over all replicas.
        replicas: number of replicas in all tasks.
        steps_per_epoch: steps in one epoch, None to read the whole dataset.
        drop_remainder: leave out a last batch that is not full.

    Raises:
        UsageError: a number is below one, or all examples would be dropped.
    """
    _refuse_below_one("--global_batch_size", global_batch_size)
    _refuse_below_one("the number of replicas", replicas)
    _refuse_below_one("--steps_per_epoch", steps_per_epoch)
    _refuse_below_one("the number of examples in the dataset", examples)
    of_pass = _steps(examples, global_batch_size, drop_remainder)
    if of_pass == 0:
        raise UsageError(
            f"--drop_remainder leaves nothing of {examples} examples in batches of "
            f"{global_batch_size}: leave it out, or give smaller batches"
        )
    steps = of_pass if steps_per_epoch is None else steps_per_epoch
    return Ledger(
        global_batch=global_batch_size,
        per_replica=_per_replica(min(global_batch_size, examples or global_batch_size), replicas),
        steps_per_epoch=steps,
        examples=examples,
        dropped=_dropped(examples, global_batch_size, steps_per_epoch, drop_remainder),
        drop_remainder=drop_remainder,
    )


def _steps(examples: int | None, batch: int, drop_remainder: bool) -> int | None:
    if examples is None:
        return None
    return examples // batch if drop_remainder else -(-examples // batch)


def _refuse_below_one(what: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise UsageError(f"{what} is {value}, but must be 1 or more: give a larger number")


def _per_replica(batch: int, replicas: int) -> str:
    parts = [rows(batch, replica, replicas) for replica in range(replicas)]
    return " or ".join(str(size) for size in sorted({stop - start for start, stop in parts}))


def _dropped(
    examples: int | None, batch: int, steps_per_epoch: int | None, drop_remainder: bool
) -> int | None:
    if examples is None:
        return None if drop_remainder or steps_per_epoch else 0
    kept = examples - examples % batch if drop_remainder else examples
    return examples - (kept if steps_per_epoch is None else min(kept, steps_per_epoch * batch))
