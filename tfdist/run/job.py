"""The run itself: strategy, data, model, fit."""

import secrets
import sys
from contextlib import nullcontext
from typing import Any

import keras
import tensorflow as tf

import tfdist
from tfdist.checkpoint.callback import Checkpoint
from tfdist.cluster import Cluster
from tfdist.data import Source, load, order
from tfdist.data.augment import Augment
from tfdist.data.ledger import Ledger, ledger
from tfdist.data.served import served
from tfdist.errors import UsageError
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
    account = ledger(
        source.train_examples,
        settings.global_batch(replicas),
        replicas,
        settings.steps_per_epoch,
        settings.drop_remainder,
    )
    model = _model(settings, source, strategy)
    sys.stdout.write(seeing.opening(settings, report.start(settings, current(), account, model)))
    sys.stdout.flush()
    clock, saves = Clock(), saving.checkpoint(settings, account)
    observers = seeing.observers(settings)
    with nullcontext() if source.bad is None else source.bad.told():
        history = _fit(settings, source, account, model, [clock, *observers], saves)
    done = record(settings, current(), account, model, history, clock)
    seeing.tell(observers, done)
    return done


def _model(settings: Settings, source: Source, strategy: tf.distribute.Strategy) -> keras.Model:
    changed = settings.augment(settings.seed)
    shape = source.input_shape if changed is None else changed.input_shape(source.input_shape)
    with strategy.scope():
        model = tfdist.distribute(
            build(settings.model, shape, source.num_classes, settings.seed),
            sync_period=settings.sync_period,
        )
        if not model.compiled:  # A model of the user's own may come with its loss and optimizer.
            _refuse_unknown_loss(settings, source)
            model.compile(
                optimizer=optimizers.build(
                    settings.optimizer,
                    settings.learning_rate,
                    factor=settings.rate_factor(current().num_replicas),
                    warmup_steps=settings.warmup_steps,
                    accumulate_steps=settings.accumulate_steps,
                ),
                jit_compile=settings.jit_compile,
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
    settings: Settings, source: Source, in_order: order.Order, changed: Augment | None
) -> Any:
    if settings.data_service is None:
        return order.divided(source, in_order, changed)
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
        validation_data=order.validation_batches(
            source, account.global_batch, changed, order.divided
        ),
        epochs=settings.epochs,
        steps_per_epoch=settings.steps_per_epoch,
        verbose=seeing.shown(settings),
        callbacks=callbacks if saves is None else [*callbacks, saves],
    ).history
