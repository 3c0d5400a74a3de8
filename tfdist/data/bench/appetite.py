"""How many examples a second would a model take, if they came at once?"""

from __future__ import annotations

import time
from typing import Any

from tfdist.data.augment import Augment
from tfdist.data.batches import batches
from tfdist.data.order import Order
from tfdist.data.source import Source
from tfdist.errors import UsageError

_FIRST_STEPS = 4


def appetite(
    name: str, source: Source, order: Order, augment: Augment | None, seconds: float
) -> float:
    """Return the examples a second that training takes on all devices of this machine.

    Trains on one batch that is already there, so that nothing is waited for.

    Args:
        name: name of the model.
        source: the examples that the batch is from.
        order: how large a batch is.
        augment: how its images are changed.
        seconds: how long is measured, apart from what it takes to make the step.

    Raises:
        UsageError: the model or its loss cannot be made.
    """
    import tensorflow as tf

    import tfdist

    strategy = tfdist.strategy()
    first = next(iter(batches(source, order, augment)))
    with strategy.scope():
        model = tfdist.distribute(_compiled(name, source, augment))
    data = tf.data.Dataset.from_tensors(first).cache().repeat().prefetch(2)
    steps = _FIRST_STEPS
    model.fit(data, steps_per_epoch=steps, verbose=0)
    while True:
        begin = time.perf_counter()
        model.fit(data, steps_per_epoch=steps, verbose=0)
        took = time.perf_counter() - begin
        if took > seconds / 2:
            return steps * int(tf.nest.flatten(first)[0].shape[0]) / took
        steps *= 2


def _compiled(name: str, source: Source, augment: Augment | None) -> Any:
    import keras

    from tfdist.models import build

    shape = augment.input_shape(source.input_shape) if augment else source.input_shape
    model = build(name, shape, source.num_classes, seed=0)
    if not model.compiled:
        if source.num_classes is None:
            raise UsageError(
                f"{source.name!r} gives no num_classes, from which the loss of {name!r} would "
                "follow: compile the model in a function of your own, --model=module:function"
            )
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    return model
