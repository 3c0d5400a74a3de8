"""A verification by flags: the dataset, model and optimizer of a training with these settings."""

from __future__ import annotations

import sys

import keras

import tfdist
from tfdist.cluster import Cluster
from tfdist.data import Source, load
from tfdist.data.batches import batches
from tfdist.errors import UsageError
from tfdist.factory import current
from tfdist.factory.failures import translated
from tfdist.models import build
from tfdist.run import optimizers
from tfdist.verification import verify
from tfdist.verification.report import Report
from tfdist.verification.settings import VerifySettings


def run(settings: VerifySettings, cluster: Cluster) -> Report:
    """Verify as the settings say in this task of the cluster."""
    strategy = tfdist.strategy(
        settings.strategy,
        settings.devices,
        cluster=cluster,
        seed=settings.seed,
        transport=settings.transport,
        compression=settings.compression,
    )
    keras.config.set_dtype_policy(settings.precision)
    source = load(settings.dataset, settings.data_dir, settings.reading())
    size = settings.global_batch(strategy.num_replicas_in_sync)
    changed = settings.augment(settings.seed)
    data = batches(source, settings.in_order(size, settings.seed, goes_on=True), changed)
    shape = source.input_shape if changed is None else changed.input_shape(source.input_shape)
    if not cluster.is_chief:
        sys.stdout.write(f"tfdist: {cluster.task} takes part; the chief is {cluster.chief}\n")
        sys.stdout.flush()
    with translated():
        return verify(
            lambda: build(settings.model, shape, source.num_classes, settings.seed),
            data,
            strategy=strategy,
            compile=lambda model: _compile(model, settings, source),
            steps=settings.steps,
            seed=settings.seed,
        )


def _compile(model: keras.Model, settings: VerifySettings, source: Source) -> None:
    if source.num_classes is None:
        raise UsageError(
            f"{settings.dataset!r} gives no num_classes, from which the loss would follow, and "
            f"{settings.model!r} returned a model that is not compiled: compile it in its function"
        )
    model.compile(
        optimizer=optimizers.build(
            settings.optimizer,
            settings.learning_rate,
            factor=settings.rate_factor(current().num_replicas),
            warmup_steps=settings.warmup_steps,
            accumulate_steps=settings.accumulate_steps,
        ),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
