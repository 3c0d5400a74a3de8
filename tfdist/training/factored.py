"""Keeps the factors of a kernel's gradient apart, for `--compression=factors`.

While a replica computes, a product with a kernel leaves its gradient by that kernel out of the
tape and notes the two factors instead: inputs and gradient of the outputs.
"""

import contextlib
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.share import Share
from tfdist.transport.factors import pays

_active = threading.local()


class Factors:
    """The factors that one replica noted.

    Args:
        share: The replica's share of the global batch.
    """

    def __init__(self, share: Share) -> None:
        self._share = share
        self._graph = tf.compat.v1.get_default_graph()
        self._differentiating = False
        self._noted: dict[int, list[tuple[tf.Tensor, tf.Tensor]]] = {}

    @contextlib.contextmanager
    def differentiating(self) -> Iterator[None]:
        """Note factors meanwhile: other gradients than that of the loss are not ours."""
        self._differentiating = True
        try:
            yield
        finally:
            self._differentiating = False

    def apart(self, gradients: Iterable[tuple[Any, keras.Variable]]) -> tuple[list, list]:
        """Return pairs of a gradient and its variable, and pairs of two factors and theirs."""
        whole, products = [], []
        for gradient, variable in gradients:
            noted = self._noted.pop(id(variable), [])
            if gradient is None and len(noted) == 1:
                products.append((noted[0], variable))
                continue
            parts = [tf.matmul(x, dy, transpose_a=True) for x, dy in noted]
            parts += [] if gradient is None else [gradient]
            if parts:
                whole.append((parts[0] if len(parts) == 1 else tf.add_n(parts), variable))
        return whole, products

    def multiply(self, original: Any, x: Any, kernel: Any) -> Any:
        """Multiply by a kernel; note the factors of its gradient where that pays."""
        if not self._suits(x, kernel):
            return original(x, kernel)

        @tf.custom_gradient
        def product(x: tf.Tensor, value: tf.Tensor) -> Any:
            def gradient(dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
                rows = [tf.reshape(v, [-1, v.shape[-1]]) for v in (x, dy)]
                dx = tf.matmul(dy, value, transpose_b=True)
                if not (self._differentiating and self._is_here()):
                    return dx, tf.matmul(*rows, transpose_a=True)
                self._noted.setdefault(id(kernel), []).append((rows[0], rows[1]))
                return dx, None

            return original(x, value), gradient

        return product(x, tf.convert_to_tensor(kernel))

    def _suits(self, x: Any, kernel: Any) -> bool:
        if not (isinstance(kernel, keras.Variable) and kernel.trainable and self._is_here()):
            return False
        if not isinstance(x, tf.Tensor) or len(kernel.shape) != 2 or x.shape.rank != 2:
            return False
        if x.dtype != tf.float32 or tf.convert_to_tensor(kernel).dtype != tf.float32:
            return False
        inputs, outputs = kernel.shape
        return pays(x.shape[0], inputs, outputs, self._share.replicas)

    def _is_here(self) -> bool:
        """Return whether the graph is the replica's own, not that of a loop or branch in it."""
        return tf.compat.v1.get_default_graph() is self._graph


@contextlib.contextmanager
def factored(share: Share, asked: bool) -> Iterator[Factors]:
    """Keep factors apart on this thread meanwhile where that was asked for."""
    factors = Factors(share)
    _active.factors = factors if asked else None
    try:
        yield factors
    finally:
        _active.factors = None


def _current() -> Factors | None:
    return getattr(_active, "factors", None)


def _matmul(factors: Factors, original: Any, x1: Any, x2: Any) -> Any:
    return factors.multiply(original, x1, x2)


def teach_matmul() -> None:
    """Make products of a replica's layers with their kernels keep factors apart."""
    internals.intercept(internals.keras_ops, "matmul", _current, _matmul)
