"""Models with a train_step of their own, right and wrong, and the data for them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

import tfdist

BATCH = 16
FEATURES = 4


def data(seed: int = 1) -> tf.data.Dataset:
    """Global batches of random examples, whose targets grow."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4 * BATCH, FEATURES)).astype("float32")
    y = x[:, :1] * x[:, 1:2] + 0.3 * x[:, 2:3] + np.arange(4 * BATCH)[:, None] / 40
    return tf.data.Dataset.from_tensor_slices((x, y.astype("float32"))).batch(BATCH)


class OwnStep(keras.Model):
    """Two dense layers; `loss_of` is the loss that its train_step takes."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = layers.Dense(6, "tanh")
        self.out = layers.Dense(1)

    def call(self, x: Any) -> Any:
        return self.out(self.hidden(x))

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            squares = ops.sum(ops.square(self(x) - y), -1)
            loss = self.loss_of(squares, y)
        weights = self.trainable_weights
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return {"distance": loss}

    def loss_of(self, squares: Any, y: Any) -> Any:
        raise NotImplementedError


class OwnMean(OwnStep):
    def loss_of(self, squares: Any, y: Any) -> Any:
        return ops.mean(squares)


class OwnSum(OwnStep):
    def loss_of(self, squares: Any, y: Any) -> Any:
        return ops.sum(squares) / BATCH


class HelpedSum(OwnStep):
    def loss_of(self, squares: Any, y: Any) -> Any:
        return tfdist.global_sum(ops.sum(squares)) / BATCH


class FixedCount(OwnStep):
    """Divides by the rows that it expects: the batch by the replicas."""

    def loss_of(self, squares: Any, y: Any) -> Any:
        return ops.sum(squares) / (BATCH // tf.distribute.get_strategy().num_replicas_in_sync)


class MeanOfSome(OwnStep):
    """The mean over the rows that count, of which each replica has another number."""

    def loss_of(self, squares: Any, y: Any) -> Any:
        counts = ops.cast(y[:, 0] > 0.5, squares.dtype)
        return ops.sum(squares * counts) / ops.maximum(ops.sum(counts), 1)


class HelpedMeanOfSome(OwnStep):
    def loss_of(self, squares: Any, y: Any) -> Any:
        counts = ops.cast(y[:, 0] > 0.5, squares.dtype)
        return tfdist.global_sum(ops.sum(squares * counts), per=ops.sum(counts))


class AddsUp(OwnStep):
    """Sums its gradients over the replicas before it applies them."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            loss = ops.mean(ops.square(self(x) - y))
        gradients = tape.gradient(loss, self.trainable_weights)
        replica = tf.distribute.get_replica_context()
        gradients = replica.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        self.optimizer.apply(gradients, self.trainable_weights)
        return {"distance": loss}


class LogsSum(OwnStep):
    """Trains rightly, and logs a sum."""

    def train_step(self, data: Any) -> dict:
        x, y = data
        with tf.GradientTape() as tape:
            squares = ops.square(self(x) - y)
            loss = ops.mean(squares)
        weights = self.trainable_weights
        self.optimizer.apply(tape.gradient(loss, weights), weights)
        return {"distance": loss, "total": ops.sum(squares)}


class Contrasts(OwnStep):
    """Compares each row with the next one of its batch."""

    def loss_of(self, squares: Any, y: Any) -> Any:
        return ops.mean(squares * ops.roll(squares, 1))


def compiled(kind: type[OwnStep], **arguments: Any) -> Any:
    """Return what builds and compiles a model of a kind."""

    def build() -> keras.Model:
        model = kind()
        model.compile(**({"optimizer": keras.optimizers.SGD(0.02, momentum=0.9)} | arguments))
        return model

    return build


class TwoOptimizers(keras.Model):
    """GAN-like: each half has an optimizer of its own; the second one's loss is a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = (
            keras.Sequential([layers.Input((FEATURES,)), layers.Dense(6, "tanh"), layers.Dense(1)])
            for _ in range(2)
        )

    def compile(self, optimizer: Any) -> None:
        super().compile(optimizer)
        self.other_optimizer = keras.optimizers.SGD(0.02)

    def train_step(self, data: Any) -> dict:
        x, y = data
        self.take(self.first, self.optimizer, lambda: ops.mean(ops.square(self.first(x) - y)))
        added = self.take(
            self.second,
            self.other_optimizer,
            lambda: ops.sum(ops.square(self.second(x) - y)) / BATCH,
        )
        return {"added": added}

    def take(self, part: keras.Model, optimizer: Any, loss_of: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of()
        optimizer.apply(tape.gradient(loss, part.trainable_weights), part.trainable_weights)
        return loss


class Noise(layers.Layer):
    """Adds random numbers: Keras' with a "generator", Keras' "unseeded", or "TensorFlow's"."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        if source == "generator":
            self.seed_generator = keras.random.SeedGenerator(3)

    def call(self, x: Any) -> Any:
        if self.source == "TensorFlow's":
            return x + tf.random.normal(tf.shape(x))
        return x + keras.random.normal(ops.shape(x), seed=getattr(self, "seed_generator", None))


def noisy(source: str) -> Any:
    """Return what builds a model with random layers."""

    def build() -> keras.Model:
        stack = [layers.Dense(6, "tanh"), layers.Dropout(0.5), Noise(source), layers.Dense(1)]
        model = keras.Sequential([layers.Input((FEATURES,)), *stack])
        model.compile("sgd", "mse")
        return model

    return build
