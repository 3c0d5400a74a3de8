"""Where does a run go on, and from which batch on does it read?"""

import tfdist
from tfdist.checkpoint.callback import Checkpoint
from tfdist.data.ledger import Ledger
from tfdist.run.settings import Settings

_BEGINNING = (0, 0)


def checkpoint(settings: Settings, account: Ledger) -> Checkpoint | None:
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
            "global_batch_size": account.global_batch,
            "steps_per_epoch": settings.steps_per_epoch,
            "shuffle": settings.shuffle,
            "drop_remainder": settings.drop_remainder,
            "seed": settings.seed,
        },
    )


def first_batch(saves: Checkpoint | None, settings: Settings, account: Ledger) -> tuple[int, int]:
    """Return the pass over the data, and the batch in it, with which training goes on."""
    at = None if saves is None else saves.position(settings.epochs)
    if saves is None or at is None or at.step == 0:
        return _BEGINNING
    steps = account.steps_per_pass
    if steps is None and settings.steps_per_epoch is not None:
        return _BEGINNING  # No one knows where a pass ended: fit() reads up to there.
    saves.skips_data = False
    if steps is None:
        return at.epoch, at.step_in_epoch
    return divmod(at.step, steps)
