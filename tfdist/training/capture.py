"""Makes a replica's computation pure: what it would assign is collected, nothing is changed."""

from collections.abc import Collection, Sequence
from typing import Any

import keras
import tensorflow as tf

from tfdist.training import internals
from tfdist.training.share import Share

_SEED = "seed_generator_state"
_STREAM = 0x9E3779B1  # odd, so that no two replicas of a job share a stream


def is_seed(variable: keras.Variable) -> bool:
    """Return whether a variable is the state of a random generator."""
    return variable.name == _SEED


class Capture(keras.StatelessScope):
    """Collects the assignments of one replica.

    Variables whose id is in `counters` (the state of metrics) start at zero, so that what is
    collected is the increment. Variables of `read` have the value they were read with. The state
    of random generators starts elsewhere on each replica, so that each draws numbers of its own;
    replica 0 draws those of one device.
    """

    def __init__(
        self,
        share: Share,
        counters: Collection[int] = (),
        read: Sequence[tuple[keras.Variable, tf.Tensor]] = (),
    ) -> None:
        super().__init__(collect_losses=True)
        self._read = {id(v): value for v, value in read}
        self._trainable = [value for v, value in read if v.trainable]
        self._share = share
        self._counters = counters
        self._offsets: dict[int, tf.Tensor] = {}
        self.assigned: dict[int, keras.Variable] = {}
        self.added_losses: dict[int, list] = {}
        self._tape: tf.GradientTape | None = None

    def add_update(self, update: tuple[keras.Variable, Any]) -> None:
        """Collect an assignment; a trainable variable becomes a new leaf of the gradient."""
        variable, value = update
        if variable.trainable:
            value = tf.stop_gradient(tf.identity(value))
            if self._tape is not None:
                self._tape.watch(value)
        super().add_update((variable, value))
        self.assigned[id(variable)] = variable

    def get_current_value(self, variable: keras.Variable) -> Any:
        """Return the value this replica sees: what it assigned, or that of the variable."""
        value = super().get_current_value(variable)
        if value is not None:
            return value
        if id(variable) in self._counters:
            value = tf.zeros(variable.shape, variable.dtype)
        elif is_seed(variable) and self._share.replica:
            value = self._seed(variable)
        if value is None:
            return self._read.get(id(variable), internals.raw(variable))
        self.state_mapping[id(variable)] = value
        return value

    def leaf(self, variable: keras.Variable) -> Any:
        """Return what to differentiate by: the variable, or what the replica assigned to it."""
        read = self._read.get(id(variable), internals.raw(variable))
        return self.state_mapping.get(id(variable), read)

    def watch(self, tape: tf.GradientTape) -> None:
        """Let a tape see what stands for trainable variables in this replica."""
        self._tape = tape
        tape.watch(self._trainable)

    def _seed(self, variable: keras.Variable) -> tf.Tensor:
        state = tf.convert_to_tensor(self._read.get(id(variable), internals.raw(variable)))
        shift = (self._share.replica * _STREAM) % 2**31
        offset = tf.cast(tf.constant([shift, 0], tf.int64), state.dtype)
        self._offsets[id(variable)] = offset
        return state + offset

    def result(self, variable: keras.Variable) -> tf.Tensor:
        """Return what this replica assigned, the same on each for a random generator."""
        value = self.state_mapping[id(variable)]
        offset = self._offsets.get(id(variable))
        return value if offset is None else value - offset


def current() -> Capture | None:
    """Return what collects the assignments of this thread, if anything does."""
    scope = internals.stateless_scope()
    return scope if isinstance(scope, Capture) else None


def _add_loss(capture: Capture, original: Any, layer: keras.Layer, loss: Any) -> None:
    capture.added_losses.setdefault(id(layer), []).extend(tf.nest.flatten(loss))


def _own_losses(capture: Capture, original: Any, layer: keras.Layer) -> list:
    return list(capture.added_losses.get(id(layer), ()))


def _clear_losses(capture: Capture, original: Any, layer: keras.Layer) -> None:
    capture.added_losses.pop(id(layer), None)
    for inner in layer._layers:
        inner._clear_losses()


def teach_layers() -> None:
    """Keep what layers add to the loss apart for each replica: Keras keeps one list a layer."""
    internals.intercept(keras.Layer, "add_loss", current, _add_loss)
    internals.intercept(keras.Layer, "_get_own_losses", current, _own_losses)
    internals.intercept(keras.Layer, "_clear_losses", current, _clear_losses)
