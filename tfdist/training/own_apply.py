"""A train_step of the user's own applies gradients itself: all replicas do it together, once."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfdist.training import internals
from tfdist.training.share import Share, computing, current
from tfdist.transport import sum_replicas


def _apply_in_replica(
    share: Share, original: Callable, optimizer: Any, grads: Any, trainable_variables: Any = None
) -> None:
    """Apply what a train_step of the user's own took of its part: once, summed, at its turn."""
    share.need_others()
    gradients = list(grads)
    variables = list(trainable_variables or optimizer._trainable_variables)
    if share.rehearsal is not None:
        share.rehearsal.append((optimizer, variables))
        return
    pairs = [(g, v) for g, v in zip(gradients, variables, strict=True) if g is not None]
    weighted = [share.kept(_scale(g, share)) for g, _ in pairs]
    kept = [v for _, v in pairs]

    def together(strategy: tf.distribute.Strategy, *addends: Any) -> None:
        with computing(None), internals.outside_stateless_scope():
            gradients = sum_replicas(strategy, list(addends), range(len(addends)))
            with internals.outside_strategy():
                internals.apply_once(optimizer, gradients, kept)

    tf.distribute.get_replica_context().merge_call(together, args=tuple(weighted))


def _scale(gradient: Any, share: Share) -> Any:
    weight = tf.cast(share.weight, gradient.dtype)
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * weight, gradient.indices, gradient.dense_shape)
    return gradient * weight


def teach_optimizers() -> None:
    """Make `optimizer.apply` inside a replica wait for all replicas and act on their sum."""
    internals.intercept(internals.BaseOptimizer, "apply", current, _apply_in_replica)
    internals.intercept(internals.LossScaleOptimizer, "apply", current, _apply_in_replica)
