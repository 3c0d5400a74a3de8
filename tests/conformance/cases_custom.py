"""Steps of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from keras import layers, ops

from tests.conformance import small
from tests.conformance.case import THREE, Case, Outcome


class OwnStep(keras.Model):
    """Two dense layers, as a subclass."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(8, "tanh")
        self.out = layers.Dense(small.CLASSES)

    def call(self, x: Any, training: bool = False) -> Any:
        return self.out(self.hidden(x))

    def take(self, tape: tf.GradientTape, loss: Any) -> None:
        """Apply the gradient."""
        weights = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))


class WithComputeLoss(OwnStep):
    """As in Keras' guide: compute_loss and the compiled metrics."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        self.take(tape, loss)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data: Any) -> dict:
        x, y = data
        y_pred = self(x, training=False)
        loss = self.compute_loss(y=y, y_pred=y_pred)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


class WithWeights(OwnStep):
    """compute_loss with sample weights, keras.ops and optimizer.apply."""

    def train_step(self, data: Any) -> dict:
        x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply(gradients, self.trainable_weights)
        return self.compute_metrics(x, y, y_pred, sample_weight) | {"last loss": loss}


class WithOwnMean(OwnStep):
    """Takes the mean of its own, and keeps it in a metric of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.tracker = keras.metrics.Mean("distance")

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            distance = keras.losses.sparse_categorical_crossentropy(y, self(x), from_logits=True)
            loss = ops.mean(distance)
        self.take(tape, loss)
        self.tracker.update_state(distance)
        return {"distance": self.tracker.result()}

    def test_step(self, data: Any) -> dict:
        x, y = data
        distance = keras.losses.sparse_categorical_crossentropy(y, self(x), from_logits=True)
        self.tracker.update_state(distance)
        return {"distance": self.tracker.result()}


class WithPenalty(OwnStep):
    """A penalty on the gradient at the inputs: a tape within a tape."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y_pred = self(x, training=True)
                total = ops.sum(ops.square(y_pred))
            slope = ops.sum(ops.square(inner.gradient(total, x)), -1)
            loss = self.compute_loss(x, y, y_pred) + 0.01 * ops.mean(slope)
        self.take(tape, loss)
        return self.compute_metrics(x, y, y_pred)


class WithTwoOptimizers(keras.Model):
    """GAN-like: a forger and a judge, each with its optimizer, in turn in one step."""

    def __init__(self) -> None:
        super().__init__()
        self.forger = keras.Sequential([layers.Dense(8, "tanh"), layers.Dense(small.FEATURES)])
        self.judge = keras.Sequential([layers.Dense(8, "tanh"), layers.Dense(1)])
        self.judge_loss = keras.metrics.Mean("judge_loss")
        self.forger_loss = keras.metrics.Mean("forger_loss")

    def compile(self, forger_optimizer: Any, judge_optimizer: Any, loss: Any) -> None:
        super().compile(loss=loss)
        self.forger_optimizer = forger_optimizer
        self.judge_optimizer = judge_optimizer

    def call(self, x: Any) -> Any:
        return self.judge(self.forger(x[:, :4]))

    def train_step(self, real: Any) -> dict:
        noise = real[:, :4] * 0.5
        with tf.GradientTape() as tape:
            right = self.compute_loss(y=ops.ones_like(real[:, :1]), y_pred=self.judge(real))
            forged = self.judge(self.forger(noise))
            loss = right + self.compute_loss(y=ops.zeros_like(real[:, :1]), y_pred=forged)
        weights = self.judge.trainable_weights
        self.judge_optimizer.apply(tape.gradient(loss, weights), weights)
        self.judge_loss.update_state(loss, sample_weight=ops.shape(real)[0])
        with tf.GradientTape() as tape:
            forged = self.judge(self.forger(noise))
            loss = self.compute_loss(y=ops.ones_like(real[:, :1]), y_pred=forged)
        weights = self.forger.trainable_weights
        self.forger_optimizer.apply(tape.gradient(loss, weights), weights)
        self.forger_loss.update_state(loss, sample_weight=ops.shape(real)[0])
        return {"judge_loss": self.judge_loss.result(), "forger_loss": self.forger_loss.result()}


def _compile_both() -> dict:
    return {
        "forger_optimizer": keras.optimizers.Adam(0.01),
        "judge_optimizer": keras.optimizers.SGD(0.05, momentum=0.9),
        "loss": keras.losses.BinaryCrossentropy(from_logits=True),
    }


def _only_x() -> dict:
    return {"x": small.blobs()[0], "batch_size": small.BATCH}


def fit_only(model: keras.Model, case: Case) -> Outcome:
    """Train; the step says nothing about evaluation."""
    history = model.fit(**case.data(), epochs=3, shuffle=False, verbose=0)
    return Outcome(history.history)


def _clipped() -> dict:
    optimizer = keras.optimizers.SGD(0.3, momentum=0.9, global_clipnorm=0.05)
    return {"optimizer": optimizer, "loss": small.softmax_loss()}


def _without_metrics() -> dict:
    return {"optimizer": small.sgd(), "loss": small.softmax_loss()}


def _case(name: str, build: Callable[[], keras.Model], **more: Any) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(), "loss": small.softmax_loss(), "metrics": ["accuracy"]}

    filled = {"compiled": compiled, "data": small.classes, "held": small.classes} | more
    return Case(name, "custom steps", build, **filled)


CASES = (
    _case("train_step and test_step with compute_loss", WithComputeLoss, strategies=THREE),
    _case("train_step with compute_loss, clipped", WithComputeLoss, compiled=_clipped),
    _case(
        "train_step with sample weights", WithWeights, data=small.weighted_classes, play=fit_only
    ),
    _case(
        "train_step and test_step with a mean of their own", WithOwnMean, compiled=_without_metrics
    ),
    _case("train_step with a gradient penalty", WithPenalty),
    _case(
        "two optimizers in one step",
        WithTwoOptimizers,
        compiled=_compile_both,
        data=_only_x,
        play=fit_only,
    ),
)
