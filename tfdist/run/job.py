"""The run itself: strategy, data, model, fit."""

import secrets
import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf

import tfdist
from tfdist.checkpoint import exporting
from tfdist.checkpoint.callback import Checkpoint, GoBackError
from tfdist.checkpoint.finite import Finite
from tfdist.cluster import Cluster
from tfdist.data import Source, load
from tfdist.data.augment import Augment
from tfdist.data.batches import divided, validation_batches
from tfdist.data.ledger import Ledger, ledger
from tfdist.data.order import Order
from tfdist.data.per_worker import PerWorker
from tfdist.data.served import served
from tfdist.errors import FailedError, UsageError
from tfdist.factory import current
from tfdist.factory.failures import translated
from tfdist.models import build
from tfdist.run import optimizers, report, saving, seeing
from tfdist.run.clock import Clock
from tfdist.run.record import record
from tfdist.run.settings import Settings


def run(settings: Settings, cluster: Cluster) -> dict[str, Any]:
    """Train as the settings say in this task of the cluster, and return the run record."""
    strategy = tfdist.strategy(
        settings.strategy,
        settings.devices,
        cluster=cluster,
        seed=settings.seed,
        transport=settings.transport,
        stall_seconds=settings.stall_seconds,
        same={f"--{name}": value for name, value in settings.same().items()},
        compression=settings.compression,
    )
    with translated():
        return _run(settings, strategy)


def _run(settings: Settings, strategy: tf.distribute.Strategy) -> dict[str, Any]:
    keras.config.set_dtype_policy(settings.precision)
    source = load(settings.dataset, settings.data_dir, settings.reading())
    # Under parameter servers each worker takes whole steps, so a step has one worker's replicas.
    replicas = strategy.num_replicas_in_sync
    saves = saving.checkpoint(settings)
    account = ledger(
        source.train_examples,
        saving.global_batch(saves, settings, replicas),
        replicas,
        settings.steps_per_epoch,
        settings.drop_remainder,
    )
    account = replace(account, declared=isinstance(source.train, PerWorker))
    of_rate = saving.replicas_of_rate(saves, settings, current().num_replicas)
    model = model_of(settings, source, strategy, of_rate)
    if settings.export_dir is not None:
        exporting.check(model, settings.export_dir)
    sys.stdout.write(seeing.opening(settings, report.start(settings, current(), account, model)))
    sys.stdout.flush()
    clock, observers = Clock(), seeing.observers(settings)
    with nullcontext() if source.bad is None else source.bad.told():
        history = _fit(settings, source, account, model, [clock, *observers], saves)
        if settings.export_dir is not None:
            _export(model, settings.export_dir, saves)
    done = record(settings, current(), account, model, history, clock, saves)
    seeing.tell(observers, done)
    return done


def _export(model: keras.Model, directory: str, saves: Checkpoint | None) -> None:
    try:
        exporting.export(model, directory)
    except FailedError as error:
        kept = None if saves is None else saves.writer.whole
        raise FailedError(f"{error}; the last whole checkpoint is {kept or 'none'}") from error


def model_of(
    settings: Settings, source: Source, strategy: tf.distribute.Strategy, of_rate: int = 1
) -> keras.Model:
    """Return the model, compiled, for a strategy, and a learning rate for so many replicas."""
    changed = settings.augment(settings.seed)
    shape = source.input_shape if changed is None else changed.input_shape(source.input_shape)
    with strategy.scope():
        model = tfdist.distribute(
            build(settings.model, shape, source.num_classes, settings.seed),
            sync_period=settings.sync_period,
            auto_jit=settings.jit == "auto",
        )
        if not model.compiled:  # A model of the user's own may come with its loss and optimizer.
            _refuse_unknown_loss(settings, source)
            model.compile(
                optimizer=optimizers.build(
                    settings.optimizer,
                    settings.learning_rate,
                    factor=settings.rate_factor(of_rate),
                    warmup_steps=settings.warmup_steps,
                    accumulate_steps=settings.accumulate_steps,
                ),
                jit_compile=settings.jit == "on",
                loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                metrics=["accuracy"],
            )
    return model


def _refuse_unknown_loss(settings: Settings, source: Source) -> None:
    if source.num_classes is None:
        raise UsageError(
            f"{settings.dataset!r} gives no num_classes, from which the loss would follow, and "
            f"{settings.model!r} returned a model that is not compiled: compile it in its function"
        )


def _training_data(
    settings: Settings, source: Source, in_order: Order, changed: Augment | None
) -> Any:
    if settings.data_service is None:
        return divided(source, in_order, changed)
    run, channel = secrets.token_hex(8), current().channel
    if channel is not None:
        run = channel.gather("data service", run)[0]
    return served(source, in_order, changed, settings.data_service, run)


def _fit(
    settings: Settings,
    source: Source,
    account: Ledger,
    model: keras.Model,
    callbacks: list[keras.callbacks.Callback],
    saves: Checkpoint | None,
) -> dict[str, list]:
    if settings.on_nan != "ignore":
        callbacks = [*callbacks, Finite(saves, settings.on_nan == "rollback")]
    if saves is not None:
        callbacks = [*callbacks, saves]
    while True:
        with suppress(GoBackError):
            return _fit_once(settings, source, account, model, saves, callbacks)


def _fit_once(
    settings: Settings,
    source: Source,
    account: Ledger,
    model: keras.Model,
    saves: Checkpoint | None,
    callbacks: list[keras.callbacks.Callback],
) -> dict[str, list]:
    epoch, step = saving.first_batch(saves, settings, account)
    in_order = settings.in_order(
        account.global_batch,
        settings.seed,
        goes_on=settings.steps_per_epoch is not None,
        start_epoch=epoch,
        start_step=step,
    )
    changed = settings.augment(settings.seed)
    return model.fit(
        _training_data(settings, source, in_order, changed),
        validation_data=validation_batches(source, account.global_batch, changed, divided),
        epochs=settings.epochs,
        steps_per_epoch=settings.steps_per_epoch,
        verbose=seeing.shown(settings),
        callbacks=callbacks,
    ).history
