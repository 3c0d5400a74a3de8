"""Where does a run go on, and from which batch on does it read?"""

import tfdist
from tfdist.checkpoint.callback import Checkpoint
from tfdist.checkpoint.say import say
from tfdist.checkpoint.together import is_chief
from tfdist.data.ledger import Ledger
from tfdist.run.settings import Settings

_BEGINNING = (0, 0)
_OF_RATE = "replicas of the learning rate"


def checkpoint(settings: Settings) -> Checkpoint | None:
    """Return what saves the run, None when nothing is to be saved."""
    if settings.checkpoint_dir is None:
        return None
    return tfdist.Checkpoint(
        settings.checkpoint_dir,
        every_steps=settings.checkpoint_every_steps,
        every_minutes=settings.checkpoint_every_minutes,
        every_epochs=settings.checkpoint_every_epochs,
        keep=settings.keep,
        keep_best=settings.keep_best,
        resume=settings.resume,
        same={
            "dataset": settings.dataset,
            "steps_per_epoch": settings.steps_per_epoch,
            "shuffle": settings.shuffle,
            "drop_remainder": settings.drop_remainder,
            "seed": settings.seed,
        },
        beside=settings.async_save,
        at_begin=settings.on_nan == "rollback",
    )


def global_batch(saves: Checkpoint | None, settings: Settings, replicas: int) -> int:
    """Return the examples in a step: with fewer or more replicas than before, those of before."""
    batch = settings.global_batch(replicas)
    if saves is None:
        return batch
    before = saves.before(settings.epochs).get("global_batch_size", batch)
    if settings.global_batch_size is None and before != batch:
        if is_chief():
            say(f"goes on with {before} examples in a step, as before, on {replicas} replicas")
        batch = before
    saves.same["global_batch_size"] = batch
    return batch


def replicas_of_rate(saves: Checkpoint | None, settings: Settings, replicas: int) -> int:
    """Return for how many replicas the learning rate is: for those of the run's beginning."""
    if saves is None:
        return replicas
    found = saves.before(settings.epochs).get(_OF_RATE, replicas)
    saves.same[_OF_RATE] = found
    return found


def first_batch(saves: Checkpoint | None, settings: Settings, account: Ledger) -> tuple[int, int]:
    """Return the pass over the data, and the batch in it, with which training goes on."""
    at = None if saves is None else saves.position(settings.epochs)
    if saves is None or at is None or at.step == 0:
        return _BEGINNING
    steps = account.steps_per_pass
    if account.declared or (steps is None and settings.steps_per_epoch is not None):
        return _BEGINNING  # No one knows where a pass ended: fit() reads up to there.
    saves.skips_data = False
    if steps is None:
        return at.epoch, at.step_in_epoch
    return divmod(at.step, steps)
