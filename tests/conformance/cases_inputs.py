"""Every form of data that Keras takes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

from tests.conformance import small
from tests.conformance.case import ALL, Case, fit_evaluate, fit_evaluate_predict
from tests.conformance.record import Record


def _case(
    name: str,
    data: Callable[[], dict],
    build: Callable[[], keras.Model] = small.mlp,
    held: Callable[[], dict] | None = None,
    fit: Callable[[], dict] = dict,
    loss: Callable[[], Any] = small.softmax_loss,
    **more: Any,
) -> Case:
    def compiled() -> dict:
        return {"optimizer": small.sgd(), "loss": loss()}

    return Case(
        name,
        "inputs",
        build,
        compiled,
        data,
        held or data,
        fit,
        play=fit_evaluate_predict if held is None else fit_evaluate,
        **more,
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


def _generator(sizes: tuple[int, ...], forever: bool = False) -> Iterator:
    x, y = small.blobs()
    while True:
        start = 0
        for size in sizes:
            yield x[start : start + size], y[start : start + size]
            start += size
        if not forever:
            return


_UNEVEN = (5, 3, 7, 1, 4, 6, 2, 5, 3, 7, 1, 4, 6, 2, 5, 3, 7, 1, 4, 6, 2, 5, 8)


def _once() -> dict:
    return {"x": _generator(_UNEVEN)}


def _forever() -> dict:
    return {"x": _generator((30, 20, 17, 30), forever=True)}


class Batches(keras.utils.PyDataset):
    """Uneven batches by number."""

    def __len__(self) -> int:
        return 7

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = small.blobs()
        return x[number * 15 : number * 15 + 15], y[number * 15 : number * 15 + 15]


def _py_dataset() -> dict:
    return {"x": Batches(workers=2)}


class Total(keras.metrics.Metric):
    """The number of examples, and the sum of their numbers and of their squares."""

    def __init__(self) -> None:
        super().__init__(name="total")
        self.sums = self.add_variable((3,), "zeros", name="sums")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y = ops.cast(ops.reshape(y_true, (-1,)), "float32")
        self.sums.assign_add(ops.stack([ops.sum(y**0), ops.sum(y), ops.sum(y * y)]))

    def result(self) -> Any:
        return {"count": self.sums[0], "sum": self.sums[1], "squares": self.sums[2]}


def numbered() -> dict:
    x, _ = small.blobs()
    return {"x": x, "y": np.arange(small.EXAMPLES, dtype="float32"), "batch_size": small.BATCH}


def each_once(record: Record, reference: Record, replicas: int) -> list[str]:
    wrong = [
        k
        for k in ("count", "sum", "squares")
        if not np.array_equal(record.logs[k], reference.logs[k])
    ]
    return [f"the {k} of the examples is {record.logs[k]}, not {reference.logs[k]}" for k in wrong]


_SHUFFLED = Case(
    "arrays, shuffled",
    "inputs",
    functools.partial(small.mlp, 1),
    lambda: {"optimizer": small.sgd(0.0001), "loss": "mse", "metrics": [Total()]},
    numbered,
    numbered,
    lambda: {"shuffle": True},
    by_design="another order of the examples, each once in every epoch and the same on all tasks",
    expect=each_once,
    strategies=ALL,
)

CASES = (
    _case("arrays in a dictionary", _dict, _of_dict),
    _case("arrays in a tuple", _tuple, _of_tuple),
    _case("nested structure", _nested, _of_nested),
    _case("strings, preprocessing layers in the model", _strings, _of_strings),
    _case("an input that is None", _optional, _of_optional),
    _case("no targets", _without_targets, _autoencoder, loss=lambda: None),
    _case("sparse", _sparse, _of_sparse),
    _case("ragged", _ragged, _of_ragged),
    _case("generator", _once, held=small.classes, fit=lambda: {"epochs": 1}, iterations=23),
    _case("infinite generator", _forever, held=small.classes, fit=lambda: {"steps_per_epoch": 7}),
    _case("PyDataset with workers", _py_dataset),
    _SHUFFLED,
)
