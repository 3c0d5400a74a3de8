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


def ledger(
    examples: int | None,
    global_batch_size: int,
    replicas: int,
    steps_per_epoch: int | None = None,
) -> Ledger:
    """Account for one epoch over `examples` in steps of `global_batch_size` on `replicas`.

    No example is dropped unless `steps_per_epoch` stops an epoch early; with `steps_per_epoch`
    beyond the data an epoch starts the data again.

    Args:
        examples: number of examples in the dataset, None when it is not known.
        global_batch_size: examples in one step over all replicas.
        replicas: number of replicas in all tasks.
        steps_per_epoch: steps in one epoch, None to read the whole dataset.

    Raises:
        UsageError: a number is below one.
    """
    _refuse_below_one("--global_batch_size", global_batch_size)
    _refuse_below_one("the number of replicas", replicas)
    _refuse_below_one("--steps_per_epoch", steps_per_epoch)
    _refuse_below_one("the number of examples in the dataset", examples)
    steps = steps_per_epoch
    if steps is None and examples is not None:
        steps = -(-examples // global_batch_size)
    return Ledger(
        global_batch=global_batch_size,
        per_replica=_per_replica(min(global_batch_size, examples or global_batch_size), replicas),
        steps_per_epoch=steps,
        examples=examples,
        dropped=_dropped(examples, global_batch_size, steps_per_epoch),
    )


def _refuse_below_one(what: str, value: int | None) -> None:
    if value is not None and value < 1:
        raise UsageError(f"{what} is {value}, but must be 1 or more: give a larger number")


def _per_replica(batch: int, replicas: int) -> str:
    parts = [rows(batch, replica, replicas) for replica in range(replicas)]
    return " or ".join(str(size) for size in sorted({stop - start for start, stop in parts}))


def _dropped(examples: int | None, batch: int, steps_per_epoch: int | None) -> int | None:
    if steps_per_epoch is None:
        return 0
    return None if examples is None else max(0, examples - steps_per_epoch * batch)
