"""The replica step: what a replica does with its part of the global batch.

The loss of its examples, the gradient of its addend of the global loss, the increments of the
metrics. The sums over all replicas are those that one device would have computed.
"""

from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.capture import Capture
from tfdist.training.factored import factored
from tfdist.training.share import Share
from tfdist.training.step import Step
from tfdist.transport.factors import sends_factors


class TrainStep(Step):
    """Trains on one global batch."""

    variables: list

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sends_factors = sends_factors(self.strategy)

    def replica(self, batch: Any, share: Share, capture: Capture) -> tuple[dict, Any]:
        """Return the replica's addend of the gradient of the global loss."""
        model = self.model
        if not is_own(model, "train_step"):
            logs = model.train_step(batch)
            loss = logs.get("loss") if isinstance(logs, dict) else None
            return {"gradients": [], "factors": [], "bad": self._bad(loss, [], share)}, logs
        with factored(share, self.sends_factors) as factors, tf.GradientTape() as tape:
            capture.watch(tape)
            y_pred, loss = compute_loss(model, batch, share, training=True)
            addend = model.optimizer.scale_loss(share.loss(loss))
        weights = model.trainable_weights
        with factors.differentiating():
            gradients = tape.gradient(addend, [capture.leaf(v) for v in weights])
        pairs, products = factors.apart(zip(gradients, weights, strict=True))
        self.variables = [v for _, v in [*pairs, *products]]
        values, logs = self.metrics(batch, y_pred, share)
        found = [share.kept(g) for g, _ in pairs]
        sent = [share.kept(factor) for factors, _ in products for factor in factors]
        bad = self._bad(loss, [*found, *sent], share)
        return values | {"gradients": found, "factors": sent, "bad": bad}, logs

    def write(self, sums: dict[str, Any]) -> None:
        """Write the state, then apply the global gradient once."""
        super().write(sums)
        gradients = [*sums["gradients"], *sums["factors"]]
        if gradients:
            internals.apply_once(self.model.optimizer, gradients, self.variables)

    def _bad(self, loss: Any, gradients: list, share: Share) -> list:
        """Say whether a replica's loss and gradient are finite, when somebody watches."""
        if self.faults is None or loss is None:
            return []
        return [self.faults.flags(loss, gradients, share)]


class TestStep(Step):
    """Evaluates one global batch."""

    __test__ = False

    def replica(self, batch: Any, share: Share, capture: Capture) -> tuple[dict, Any]:
        """Return the increments of the metrics."""
        if not is_own(self.model, "test_step"):
            return {}, self.model.test_step(batch)
        y_pred, _ = compute_loss(self.model, batch, share, training=False)
        return self.metrics(batch, y_pred, share)


def is_own(model: keras.Model, name: str) -> bool:
    """Return whether a method of the model is the one that Keras gave it."""
    return getattr(type(model), name) is getattr(internals.KerasTrainer, name)


def compute_loss(model: keras.Model, batch: Any, share: Share, training: bool) -> tuple[Any, Any]:
    """Return the outputs for a replica's part and the mean loss over its examples."""
    x, y, sample_weight = internals.unpack(batch)
    y_pred = forward(model, x, training)
    loss = model._compute_loss(
        x=x, y=y, y_pred=y_pred, sample_weight=sample_weight, training=training
    )
    model._loss_tracker.update_state(loss, sample_weight=share.rows)
    return y_pred, loss


def forward(model: keras.Model, x: Any, training: bool) -> Any:
    """Call the model as Keras' own steps do."""
    return model(x, training=training) if model._call_has_training_arg else model(x)
