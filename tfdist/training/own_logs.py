"""The logs of a step of the user's own that are not results of metrics."""

from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.capture import Capture
from tfdist.training.share import Share


class OwnLogs:
    """Keeps the last value of what a step logs by itself: the mean over replicas, by examples.

    Args:
        model: Whose metrics know their own results.
    """

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        self._kept: dict[str, tf.Variable] = {}
        self._returned: list[str] = []

    @property
    def variables(self) -> list[tf.Variable]:
        """What they are kept in."""
        return list(self._kept.values())

    def addends(self, logs: Any, share: Share, capture: Capture) -> list:
        """Return a replica's addends of the logs that no metric updated in the step knows."""
        flat = _flatten(logs) if isinstance(logs, dict) else {}
        self._returned = list(flat)
        updated = {
            name
            for metric in self._model.metrics
            if any(id(v) in capture.assigned for v in metric.variables)
            for name in _names(metric)
        }
        own = {name: value for name, value in flat.items() if name not in updated}
        for name in own:
            if name not in self._kept:
                with tf.init_scope(), internals.outside_strategy():
                    self._kept[name] = tf.Variable(0.0, trainable=False)
        return [_addend(share, own[name]) for name in self._kept]

    def keep(self, sums: list) -> None:
        """Keep the sums over the replicas."""
        for variable, value in zip(self._kept.values(), sums, strict=True):
            variable.assign(value)

    def with_metrics(self, results: dict) -> dict:
        """Return what Keras would log: the metrics, or what the step returned if that differs."""
        if not self._returned or set(self._returned) == set(_flatten(results)):
            return results
        flat = _flatten(results)
        return {name: self._kept.get(name, flat.get(name)) for name in self._returned}


def _flatten(logs: dict) -> dict:
    flat = {}
    for name, value in logs.items():
        flat.update(_flatten(value) if isinstance(value, dict) else {name: value})
    return flat


def _names(metric: keras.Metric) -> list[str]:
    result = metric.result()
    return list(_flatten(result)) if isinstance(result, dict) else [metric.name]


def _addend(share: Share, value: Any) -> tf.Tensor:
    value = tf.reduce_mean(tf.cast(value, tf.float32))
    return tf.where(share.count > 0, value * tf.cast(share.weight, value.dtype), 0.0)
