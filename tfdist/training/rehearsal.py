"""Which optimizers a train_step of the user's own uses, and for which weights."""

from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf

from tfdist.errors import UsageError
from tfdist.training.capture import Capture
from tfdist.training.parts import part
from tfdist.training.share import computing


def rehearse(model: keras.Model, strategy: tf.distribute.Strategy, spec: Any) -> list:
    """Trace a step once without doing it; return its pairs of optimizer and variables.

    Optimizers make their variables at their first step, which is too late inside a replica.

    Args:
        model: A model whose train_step is its own.
        strategy: The strategy that will run the step.
        spec: The structure of a batch, None where a part is absent.

    Raises:
        UsageError: a layer has no weights yet, and would make them inside a replica.
    """
    for layer in model._flatten_layers(include_self=False):
        if not layer.built:
            raise UsageError(
                f"The train_step of {type(model).__name__} would build {layer.name!r} in its first "
                "step, which no replica can; build it before fit, by an Input layer or by calling "
                "it on a batch under the strategy's scope."
            )
    found: list = []

    def replica(batch: Any) -> None:
        _, share = part(batch, 0, 1)
        with computing(replace(share, rehearsal=found)), Capture(share):
            model.train_step(batch)

    @tf.autograph.experimental.do_not_convert
    def step(batch: Any) -> None:
        strategy.run(tf.autograph.experimental.do_not_convert(replica), (batch,))

    tf.function(step, autograph=False).get_concrete_function(spec)
    return found


def has_unbuilt_optimizers(model: keras.Model) -> bool:
    """Return whether a model keeps an optimizer that has never been used."""
    kept = vars(model).values()
    return any(isinstance(v, keras.Optimizer) and not v.built for v in kept)
