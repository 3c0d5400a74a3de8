"""What a run did, as one JSON object: the last line on standard output."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import tfdist
from tfdist.checkpoint.callback import Checkpoint
from tfdist.data.ledger import Ledger
from tfdist.factory import Context
from tfdist.progress.look import learning_rate
from tfdist.run.clock import Clock
from tfdist.run.report import optimizer_name
from tfdist.run.settings import Settings


def record(
    settings: Settings,
    context: Context,
    account: Ledger,
    model: keras.Model,
    history: Mapping[str, Sequence[Any]],
    clock: Clock,
    saves: Checkpoint | None = None,
) -> dict[str, Any]:
    """Return the run record; the values of loss and metrics are those of the last epoch.

    Every task that trains has one, with the same weights_digest. `examples_per_second` is that of
    training alone, and without the first epoch (in which TensorFlow makes the step) if there are
    more. `examples` is null when the dataset does not know its own length.
    """
    steps = int(model.optimizer.iterations.numpy())
    of_epoch = account.steps_per_epoch
    # Workers that share the pieces of a data service may have more, smaller steps.
    counted = steps if of_epoch is None else min(steps, settings.epochs * of_epoch)
    examples = account.examples_in(counted)
    weights = model.get_weights()
    return {
        "strategy": context.choice.name,
        "replicas": context.num_replicas,
        "workers": context.num_workers,
        "task": str(context.cluster.task),
        "devices": f"{context.devices.kind.lower()}:{context.devices.count}",
        "dataset": settings.dataset,
        "model": settings.model,
        "precision": settings.precision,
        "optimizer": optimizer_name(model),
        "learning_rate": learning_rate(model),
        "seed": context.seed,
        "global_batch": None if account.declared else account.global_batch,
        "epochs": settings.epochs,
        "steps": steps,
        "examples": examples,
        "seconds": round(clock.seconds, 3),
        "examples_per_second": _per_second(examples, settings.epochs, clock),
        **({} if saves is None else saves.writer.account()),
        **{name: plain(values[-1]) for name, values in history.items()},
        "weights_digest": digest(weights),
        "weights_norm": norm(weights),
        "tfdist": tfdist.__version__,
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
    }


def as_line(run_record: Mapping[str, Any]) -> str:
    """The record as one line of JSON."""
    return json.dumps(run_record, allow_nan=False)


def digest(weights: Sequence[np.ndarray]) -> str:
    """The SHA-256 over the bytes of all weights in their order, in hexadecimal."""
    total = hashlib.sha256()
    for weight in weights:
        total.update(np.ascontiguousarray(weight).tobytes())
    return total.hexdigest()


def norm(weights: Sequence[np.ndarray]) -> float | None:
    """The Euclidean norm of all weights together; None when it is not finite."""
    squares = (float(np.sum(np.square(weight.astype(np.float64)))) for weight in weights)
    return plain(math.sqrt(math.fsum(squares)))


def _per_second(examples: int | None, epochs: int, clock: Clock) -> float | None:
    if examples is None:
        return None
    return round(examples / epochs / clock.seconds_per_epoch, 1)


def plain(value: Any) -> Any:
    """A value that JSON has: it knows no NaN and no infinity."""
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value.tolist()]
    return value if math.isfinite(value) else None
