"""Predictions, in the order of the data, on every task."""

from functools import partial
from typing import Any

import keras
import tensorflow as tf

from tfdist.training.parts import part
from tfdist.training.step import without_optionals
from tfdist.transport import join_replicas


class Predictor:
    """Predicts a global batch on all replicas."""

    def __init__(self, model: keras.Model, strategy: tf.distribute.Strategy) -> None:
        self._model = model
        self._strategy = strategy
        self.function = self._predict
        if not model.run_eagerly:
            self.function = tf.function(self._predict, autograph=False, reduce_retracing=True)

    def __call__(self, batch: Any) -> Any:
        """Return the outputs for a batch, rows in its order."""
        return self.function(batch)

    @tf.autograph.experimental.do_not_convert
    def _predict(self, batch: Any) -> Any:
        batch = without_optionals(batch)
        outputs = self._strategy.run(self._replica, (batch,))
        return tf.nest.map_structure(partial(join_replicas, self._strategy), outputs)

    @tf.autograph.experimental.do_not_convert
    def _replica(self, batch: Any) -> Any:
        context = tf.distribute.get_replica_context()
        replica = int(tf.get_static_value(context.replica_id_in_sync_group) or 0)
        mine, share = part(batch, replica, self._strategy.num_replicas_in_sync)
        outputs = self._model.predict_step(mine)
        if share.replicas == 1:
            return outputs
        return tf.nest.map_structure(lambda leaf: leaf[: share.count], outputs)
