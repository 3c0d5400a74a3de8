"""Inputs of every structure and kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from tests.conformance import small
from tests.conformance.case import Case, fit_evaluate_predict


def _case(
    name: str,
    data: Callable[[], dict],
    build: Callable[[], keras.Model] = small.mlp,
    loss: Callable[[], Any] = small.softmax_loss,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(), "loss": loss()}

    return Case(
        name,
        "inputs",
        build,
        compiled,
        data,
        data,
        play=fit_evaluate_predict,
    )


def _halves() -> tuple[np.ndarray, np.ndarray]:
    x, _ = small.blobs()
    return x[:, :2], x[:, 2:]


def _joined(inputs: Any, *parts: Any) -> keras.Model:
    h = layers.Dense(8, "tanh")(layers.Concatenate()(list(parts)))
    return keras.Model(inputs, layers.Dense(small.CLASSES)(h))


def _of_dict() -> keras.Model:
    a, b = layers.Input((2,), name="a"), layers.Input((4,), name="b")
    return _joined({"a": a, "b": b}, a, b)


def _dict() -> dict:
    a, b = _halves()
    return small.classes() | {"x": {"a": a, "b": b}}


def _of_tuple() -> keras.Model:
    a, b = layers.Input((2,)), layers.Input((4,))
    return _joined((a, b), a, b)


def _tuple() -> dict:
    return small.classes() | {"x": _halves()}


def _of_nested() -> keras.Model:
    a, b, c = layers.Input((2,)), layers.Input((4,)), layers.Input((1,))
    return _joined({"two": (a, b), "one": [c]}, a, b, c)


def _nested() -> dict:
    a, b = _halves()
    x = {"two": (a, b), "one": [a[:, :1] * 2]}
    return {"x": tf.data.Dataset.from_tensor_slices((_tuples(x), small.blobs()[1])).batch(16)}


def _tuples(x: dict) -> dict:
    return {"two": x["two"], "one": tuple(x["one"])}


_WORDS = np.array(["red", "green", "blue", "unknown"])


def _strings() -> dict:
    x, y = small.blobs()
    words = _WORDS[(y + (x[:, 0] > 1)) % 4]
    inputs = {
        "word": words[:, None],
        "text": np.char.add(np.char.add(words, " "), words[::-1])[:, None],
        "x": x,
    }
    return {"x": tf.data.Dataset.from_tensor_slices((inputs, y)).batch(small.BATCH)}


def _of_strings() -> keras.Model:
    word = layers.Input((1,), dtype="string", name="word")
    text = layers.Input((1,), dtype="string", name="text")
    x = layers.Input((small.FEATURES,), name="x")
    number = layers.StringLookup(vocabulary=_WORDS[:3].tolist())(word)
    embedded = layers.Flatten()(layers.Embedding(4, 3)(number))
    vectorize = layers.TextVectorization(vocabulary=_WORDS.tolist(), output_sequence_length=2)
    texts = layers.GlobalAveragePooling1D()(layers.Embedding(6, 3)(vectorize(text)))
    bins = layers.CategoryEncoding(4, "one_hot")(layers.Discretization([-1.0, 0.0, 1.0])(x[:, :1]))
    return _joined({"word": word, "text": text, "x": x}, embedded, texts, bins, x)


class OrZero(layers.Layer):
    """Adds an input that may be absent."""

    def call(self, x: Any, more: Any = None) -> Any:
        return x if more is None else x + more


def _of_optional() -> keras.Model:
    x, more = layers.Input((small.FEATURES,)), layers.Input((small.FEATURES,), optional=True)
    return keras.Model([x, more], layers.Dense(small.CLASSES)(OrZero()(x, more)))


def _optional() -> dict:
    x, y = small.blobs()
    return {"x": [x, None], "y": y, "batch_size": small.BATCH}


def _autoencoder() -> keras.Model:
    x = layers.Input((small.FEATURES,))
    return keras.Model(x, Distance()([x, layers.Dense(small.FEATURES)(layers.Dense(2)(x))]))


class Distance(layers.Layer):
    """Adds the distance of two inputs to the loss; gives the second."""

    def call(self, inputs: Any) -> Any:
        self.add_loss(ops.mean(ops.square(inputs[0] - inputs[1])))
        return inputs[1]


def _without_targets() -> dict:
    return {"x": small.blobs()[0], "batch_size": small.BATCH}


def _sparse() -> dict:
    x, y = small.blobs()
    sparse = tf.sparse.from_dense(np.where(np.abs(x) > 1, x, 0))
    return {"x": tf.data.Dataset.from_tensor_slices((sparse, y)).batch(small.BATCH)}


def _of_sparse() -> keras.Model:
    x = layers.Input((small.FEATURES,), sparse=True)
    return keras.Model(x, layers.Dense(small.CLASSES)(layers.Dense(8, "tanh")(x)))


def _ragged() -> dict:
    rng = np.random.default_rng(6)
    words = tf.RaggedTensor.from_row_lengths(rng.integers(0, 12, 300), _lengths(rng))
    return {"x": tf.data.Dataset.from_tensor_slices((words, small.blobs()[1])).ragged_batch(16)}


def _lengths(rng: np.random.Generator) -> np.ndarray:
    lengths = rng.integers(1, 5, small.EXAMPLES)
    lengths[-1] += 300 - lengths.sum()
    return lengths


class Average(layers.Layer):
    """The average of the vectors of the words of each sentence."""

    def build(self, shape: Any) -> None:
        self.vectors = self.add_weight(shape=(12, 4), initializer="uniform", name="vectors")

    def call(self, words: Any) -> Any:
        return tf.reduce_mean(
            tf.ragged.map_flat_values(lambda w: tf.gather(self.vectors, w), words), 1
        )


def _of_ragged() -> keras.Model:
    x = layers.Input((None,), ragged=True, dtype="int64")
    return keras.Model(x, layers.Dense(small.CLASSES)(Average()(x)))


CASES = (
    _case("arrays in a dictionary", _dict, _of_dict),
    _case("arrays in a tuple", _tuple, _of_tuple),
    _case("nested structure", _nested, _of_nested),
    _case("strings, preprocessing layers in the model", _strings, _of_strings),
    _case("an input that is None", _optional, _of_optional),
    _case("no targets", _without_targets, _autoencoder, loss=lambda: None),
    _case("sparse", _sparse, _of_sparse),
    _case("ragged", _ragged, _of_ragged),
)
