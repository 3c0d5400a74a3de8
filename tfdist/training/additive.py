"""Whether the metrics of the parts of a batch add up to those of the batch."""

from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals

_THROUGH = ("Identity", "StopGradient")
_ADD = ("Add", "AddV2")


def adds_up(model: keras.Model, spec: Any) -> bool:
    """Return whether each metric only ever adds to its state something independent of it.

    Metrics of Keras do. Those of the user are traced, and the graph is read: `state + increment`
    adds up, a maximum does not.

    Args:
        model: A built and compiled model.
        spec: The structure of a batch, None where a part is absent.
    """
    own = [m for m in _leaves(model) if not type(m).__module__.startswith("keras.src.metrics.")]
    variables = [v for m in own for v in m.variables]
    if not variables:
        return True
    x, y, sample_weight = internals.unpack(spec)
    y_pred = tf.nest.map_structure(
        lambda t: tf.TensorSpec(t.shape, t.dtype), internals.output_spec(model, x)
    )

    @tf.autograph.experimental.do_not_convert
    def update(states: list, *batch: Any) -> list:
        with keras.StatelessScope(list(zip(variables, states, strict=True))) as scope:
            model.compute_metrics(*batch)
        return [scope.get_current_value(v) for v in variables]

    states = [tf.TensorSpec(v.shape, v.dtype) for v in variables]
    traced = tf.function(update).get_concrete_function(states, x, y, y_pred, sample_weight)
    before = traced.graph.inputs[: len(states)]
    return all(map(_only_adds, traced.outputs, before))


def _leaves(model: keras.Model) -> list:
    found: list[keras.Metric] = []
    for metric in model.metrics:
        inner = metric.metrics if isinstance(metric, internals.CompileMetrics) else [metric]
        found += inner
    return found


def _only_adds(after: tf.Tensor, before: tf.Tensor) -> bool:
    if after is before:
        return True
    if after.op.type in _THROUGH:
        return _only_adds(after.op.inputs[0], before)
    if after.op.type not in _ADD:
        return False
    left, right = after.op.inputs
    return (_only_adds(left, before) and not _depends(right, before)) or (
        _only_adds(right, before) and not _depends(left, before)
    )


def _depends(tensor: tf.Tensor, on: tf.Tensor) -> bool:
    seen, left = set(), [tensor]
    while left:
        each = left.pop()
        if each is on:
            return True
        if each.ref() not in seen:
            seen.add(each.ref())
            left += each.op.inputs
    return False
