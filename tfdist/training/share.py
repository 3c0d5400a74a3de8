"""What a replica's numbers count for in the global batch.

While a replica computes its part, every scalar it makes (a loss, a penalty, a mean of its own) is
the mean over its own examples, and the value for the global batch is the mean over the replicas
weighted by their examples. Sums and increments of metrics simply add up. Keras' own loss and
metric code is made to keep this convention by the interceptions at the end of this file.
"""

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from tfdist.training import internals
from tfdist.transport import sum_in_replica


class NeedsOthersError(Exception):
    """A replica's part needs the other replicas before it ends."""


@dataclass(frozen=True)
class Share:
    """One replica's share of a global batch.

    Attributes:
        rows: Examples the replica computes on, at least one.
        count: Examples it stands for: `rows`, or 0 when its part is empty and it repeats one.
        total: Examples in the global batch.
        replicas: Number of replicas in the step, over all tasks.
        replica: Number of this replica, from 0.
        rehearsal: Where to note which optimizer updates what, instead of doing it.
        made_up: Whether rows that count 0 may be made up, of which no number can be trusted.
        compiled: Whether XLA compiles the part, which then cannot speak with others in mid-step.
    """

    rows: Any
    count: Any
    total: Any
    replicas: int
    replica: int
    made_up: bool = False
    compiled: bool = False
    rehearsal: list | None = None

    @property
    def weight(self) -> tf.Tensor:
        """The part of the global batch this replica stands for, in [0, 1], as float64."""
        return tf.cast(self.count, tf.float64) / tf.cast(self.total, tf.float64)

    @property
    def present(self) -> tf.Tensor:
        """1.0 when the replica has examples of its own, else 0.0."""
        return tf.cast(self.count > 0, tf.float32)

    def sum(self, value: tf.Tensor) -> tf.Tensor:
        """Return the sum over all replicas of a small value, leaving out replicas without part."""
        self.need_others()
        return sum_in_replica(value * tf.cast(self.present, value.dtype))

    def kept(self, value: Any) -> Any:
        """Return an addend of this replica, zeros where it is of rows that are made up."""
        if not self.made_up or value is None:
            return value
        if isinstance(value, tf.IndexedSlices):
            return tf.IndexedSlices(self.kept(value.values), value.indices, value.dense_shape)
        return tf.where(self.count > 0, value, tf.zeros_like(value))

    def need_others(self) -> None:
        """Raise NeedsOthersError when the part is compiled, which rules out a sum in mid-step."""
        if self.compiled:
            raise NeedsOthersError

    def loss(self, loss: tf.Tensor) -> tf.Tensor:
        """Return this replica's addend of the global batch's loss."""
        if self.replicas == 1:
            return tf.reduce_sum(loss) if loss.shape.rank else loss
        if loss.shape.rank:  # reduction=None: one device differentiates the sum of the losses
            return tf.reduce_sum(loss) * tf.cast(self.present, loss.dtype)
        return loss * tf.cast(self.weight, loss.dtype)


_active = threading.local()


def current() -> Share | None:
    """Return the share of the replica that this thread computes, if it computes one."""
    return getattr(_active, "share", None)


@contextlib.contextmanager
def computing(share: Share | None) -> Iterator[None]:
    """Say that this thread computes the part of a replica."""
    before = current()
    _active.share = share
    try:
        yield
    finally:
        _active.share = before


def _loss_value(
    share: Share,
    original: Any,
    values: Any,
    sample_weight: Any = None,
    mask: Any = None,
    reduction: Any = "sum_over_batch_size",
    dtype: Any = None,
) -> tf.Tensor:
    """Reduce a loss so that its mean over replicas is the loss of the global batch."""
    values = tf.convert_to_tensor(values)
    if dtype is not None:
        values = tf.cast(values, dtype)
    mean = reduction in ("sum_over_batch_size", "mean") and mask is None
    weighted = reduction == "mean_with_sample_weight"
    unweighted = weighted and sample_weight is None and mask is None
    if share.replicas == 1 or not values.shape.rank or mean or unweighted or not reduction:
        return original(values, sample_weight, mask, reduction, dtype)
    if reduction == "none":
        return original(values, sample_weight, mask, reduction, dtype)
    added = original(values, sample_weight, mask, "sum", dtype)
    scale = tf.cast(share.total, added.dtype) / tf.cast(share.rows, added.dtype)
    if reduction == "sum":
        return added * scale
    count = _weight_sum(values, sample_weight, mask) if weighted else _valid(values, mask)
    return tf.math.divide_no_nan(added, share.sum(count)) * scale


def _weight_sum(values: tf.Tensor, sample_weight: Any, mask: Any) -> tf.Tensor:
    """Return the sum of the weights, as `mean_with_sample_weight` divides by it."""
    if sample_weight is not None:
        sample_weight = tf.cast(sample_weight, values.dtype)
    weight = internals.apply_mask(sample_weight, mask, values.dtype, "sum")
    _, weight = internals.same_rank(values, tf.cast(weight, values.dtype))
    return tf.reduce_sum(weight)


def _valid(values: tf.Tensor, mask: Any) -> tf.Tensor:
    """Return the number of loss elements that the mask keeps."""
    kept = tf.reduce_sum(tf.cast(mask, values.dtype))
    per_mask = tf.cast(tf.size(values), values.dtype) / tf.cast(tf.size(mask), values.dtype)
    return kept * per_mask


def _samplewise(
    share: Share, original: Any, values: Any, sample_weight: Any, *args: Any, **kwargs: Any
) -> Any:
    """Let a metric count a scalar of this replica as its share of one scalar."""
    if sample_weight is None and not tf.convert_to_tensor(values).shape.rank:
        sample_weight = share.weight
    return original(values, sample_weight, *args, **kwargs)


def _moments(share: Share, original: Any, x: tf.Tensor, axes: Any, keepdims: bool) -> Any:
    """Return mean and variance over the examples of all replicas, by Keras' own formula."""
    if share.replicas == 1:
        return original(x, axes, keepdims)
    added = tf.reduce_sum(x, axes, keepdims=True)
    count = tf.cast(tf.size(x) // tf.size(added), x.dtype)
    parts = tf.stack([added, tf.reduce_sum(tf.square(x), axes, keepdims=True)])
    sums = share.sum(tf.concat([tf.reshape(parts, [-1]), count[None]], 0))
    mean, square = tf.unstack(tf.reshape(sums[:-1] / sums[-1], tf.shape(parts)))
    mean, square = tf.ensure_shape(mean, added.shape), tf.ensure_shape(square, added.shape)
    variance = tf.maximum(square - tf.square(mean), 0.0)
    if keepdims:
        return mean, variance
    return tf.squeeze(mean, axes), tf.squeeze(variance, axes)


def _as_is(share: Share, original: Any, value: Any) -> Any:
    """Leave a loss as it is: the weight of the replica already says what it counts for."""
    return value


def teach_keras() -> None:
    """Make Keras' losses, metrics and synchronized moments keep the convention of this file."""
    internals.intercept(internals.keras_loss, "reduce_weighted_values", current, _loss_value)
    internals.intercept(internals.keras_loss, "scale_loss_for_distribution", current, _as_is)
    internals.intercept(internals.keras_loss, "unscale_loss_for_distribution", current, _as_is)
    internals.intercept(
        internals.reduction_metrics, "reduce_to_samplewise_values", current, _samplewise
    )
    internals.intercept(internals.keras_nn, "_compute_moments_sync", current, _moments)
